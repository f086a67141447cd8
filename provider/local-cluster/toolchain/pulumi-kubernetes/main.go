// The Pulumi resource plugin for Kubernetes, from its published Go module.
//
// The two embedded files come from the same module and are put beside this file just before the build, see
// provider/local-cluster/toolchain/kubernetes-plugin-files.ts: they are too large to keep here.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
