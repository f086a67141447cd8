// The Pulumi resource plugin for random values: the upstream provider behind the Terraform bridge.
//
// The schema is computed at start (it is small), so that nothing generated has to be kept or made before the build.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfgen"
	bridge "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	random "github.com/terraform-providers/terraform-provider-random/internal/provider"
)

// Version of the plugin; set by the build.
var Version = "4.0.0-dev"

func main() {
	ctx := context.Background()
	info := describe()
	generated, err := tfgen.GenerateSchema(ctx, tfgen.GenerateSchemaOptions{
		ProviderInfo:  info,
		XInMemoryDocs: true,
		// Its remarks are about missing documentation, which a plugin at run time does not need.
		DiagnosticsSink: diag.DefaultSink(io.Discard, io.Discard, diag.FormatOptions{Color: colors.Never}),
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-resource-random: no schema: %v\n", err)
		os.Exit(1)
	}
	tfbridge.Main(ctx, info.Name, info, generated.ProviderMetadata)
}

func describe() bridge.ProviderInfo {
	resources := map[string]*bridge.ResourceInfo{}
	for upstream, name := range map[string]string{
		"random_bytes":    "Bytes",
		"random_id":       "Id",
		"random_integer":  "Integer",
		"random_password": "Password",
		"random_pet":      "Pet",
		"random_shuffle":  "Shuffle",
		"random_string":   "String",
		"random_uuid":     "Uuid",
		"random_uuid4":    "Uuid4",
		"random_uuid7":    "Uuid7",
	} {
		token := tokens.Type(fmt.Sprintf("random:index/random%s:Random%s", name, name))
		resources[upstream] = &bridge.ResourceInfo{Tok: token}
	}
	// The only one without an attribute `id` upstream; the SDK expects the value itself to be the id.
	resources["random_bytes"].ComputeID = idFrom("base64")

	return bridge.ProviderInfo{
		Name:         "random",
		P:            tfbridge.ShimProvider(random.New()),
		Version:      Version,
		Resources:    resources,
		MetadataInfo: bridge.NewProviderMetadata([]byte("{}")),
	}
}

func idFrom(property resource.PropertyKey) bridge.ComputeID {
	return func(_ context.Context, state resource.PropertyMap) (resource.ID, error) {
		value := state[property]
		if value.IsSecret() {
			value = value.SecretValue().Element
		}
		if !value.IsString() {
			return "", errors.New("the state has no " + string(property) + " to make an id from")
		}
		return resource.ID(value.StringValue()), nil
	}
}
