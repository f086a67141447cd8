import assert from "node:assert/strict";

import { renderTemplate } from "../../../runtime/networking/template/evaluate";
import type { TemplateStruct } from "../../../runtime/networking/template/functions";

const data: TemplateStruct = {
  Name: "milan",
  Namespace: "liqo-tenant-milan",
  Spec: {
    MTU: 1340,
    Enabled: true,
    Endpoint: {
      Port: 51840,
      Ports: [51840, 51841],
      NodePort: null,
      ServiceType: "NodePort",
      Addresses: [],
      LoadBalancerIP: "",
    },
    ServiceLabels: new Map([
      ["b", "2"],
      ["a", "1"],
    ]),
  },
};

/** Template and result, as Go's text/template gives it for the same data. */
export const RENDERED: [string, string][] = [
  ["plain } text {", "plain } text {"],
  ["{{ .Name }}", "milan"],
  ["gw-{{.Name}}.{{ .Namespace }}", "gw-milan.liqo-tenant-milan"],
  ["{{ .Spec.Endpoint.Port }}", "51840"],
  ["{{ $.Spec.MTU }}", "1340"],
  ["{{ .Spec.Endpoint.NodePort }}", "<nil>"],
  ["{{ .Spec.Endpoint.Ports }}", "[51840 51841]"],
  ["{{ .Spec.ServiceLabels }}", "map[a:1 b:2]"],
  ["{{ .Spec.ServiceLabels.a }}{{ .Spec.ServiceLabels.c }}", "1<no value>"],
  ['{{ index .Spec.ServiceLabels "b" }}-{{ index .Spec.ServiceLabels "c" }}', "2-"],
  ["{{ index .Spec.Endpoint.Ports 1 }}", "51841"],
  ["{{ len .Spec.Endpoint.Ports }}{{ len .Name }}", "25"],
  ["{{ if .Spec.Endpoint.NodePort }}a{{ else }}b{{ end }}", "b"],
  [
    "{{ if .Spec.Endpoint.Addresses }}a{{ else if gt .Spec.MTU 1400 }}b{{ else if .Spec.Enabled }}c{{ end }}",
    "c",
  ],
  ["{{ if and .Name (gt (len .Spec.Endpoint.Ports) 1) }}many{{ end }}", "many"],
  ["{{ if gt (len .Spec.Endpoint.Ports) 0 }}{{ index .Spec.Endpoint.Ports 0 }}{{ end }}", "51840"],
  ["{{ range $i, $p := .Spec.Endpoint.Ports }}{{ if gt $i 0 }},{{ end }}{{ $p }}{{ end }}", "51840,51841"],
  ["{{ range $p := .Spec.Endpoint.Ports }}[{{ $p }}={{ . }}]{{ end }}", "[51840=51840][51841=51841]"],
  ["{{ range .Spec.Endpoint.Addresses }}x{{ else }}none{{ end }}", "none"],
  ["{{ range $k, $v := .Spec.ServiceLabels }}{{ $k }}{{ $v }}{{ $.Name }} {{ end }}", "a1milan b2milan "],
  ["{{ with .Spec.Endpoint }}{{ .Port }}{{ $.Name }}{{ end }}", "51840milan"],
  ["{{ with .Spec.Endpoint.LoadBalancerIP }}x{{ else }}y{{ end }}", "y"],
  ["{{ with $p := .Spec.MTU }}{{ $p }}{{ . }}{{ end }}", "13401340"],
  ["{{ $x := .Spec.MTU }}{{ if .Name }}{{ $x = 7 }}{{ end }}{{ $x }}", "7"],
  ["{{ $x := 1 }}{{ if .Name }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}", "21"],
  ["a  {{- 3 -}}  b\n{{- /* why */ -}}\n c", "a3bc"],
  ["a {{/* why */}} b", "a  b"],
  ['{{ "q\\"}}\\n" }}{{ `raw\\n}}` }}', 'q"}}\nraw\\n}}'],
  ['{{ eq .Name "rome" "milan" }} {{ ne .Spec.MTU 1340 }} {{ not .Name }}', "true false false"],
  ["{{ lt 1 2 }}{{ le 2 2 }}{{ gt 1 2 }}{{ ge 2 3 }}{{ lt `a` `b` }}", "truetruefalsefalsetrue"],
  ["{{ or .Spec.Endpoint.LoadBalancerIP .Name }} {{ and .Name 0 }}", "milan 0"],
  [
    '{{ printf "%s:%d %v %q %t%%" .Name .Spec.MTU .Spec.Endpoint.Ports "x" true }}',
    'milan:1340 [51840 51841] "x" true%',
  ],
  ['{{ .Name | printf "%s-%s" "gw" }}', "gw-milan"],
  ['{{ print "a" 1 2 "b" 3 }}{{ .Name | len | print }}', "a1 2b35"],
  ["{{ println 1 `a` }}", "1 a\n"],
  ["{{ (index .Spec.Endpoint.Ports 0) }}{{ (.Spec).MTU }}", "518401340"],
  ["{{ true }}{{ false }}{{ 0x10 }}{{ -3 }}", "truefalse16-3"],
  ["{{ or false (eq .Name `rome`) | not }}", "true"],
];

describe("templates", () => {
  for (const [template, expected] of RENDERED) {
    it(`render ${JSON.stringify(template)}`, () => assert.equal(renderTemplate(template, data), expected));
  }

  const refused: [string, string | RegExp][] = [
    [
      "{{ .Spec.Mtu }}",
      "{{ .Spec.Mtu }}: there is no field Mtu; there are MTU, Enabled, Endpoint, ServiceLabels",
    ],
    ["{{ .Name.First }}", '{{ .Name.First }}: the string "milan" has no field First'],
    ["{{ .Spec.Endpoint.NodePort.X }}", "{{ .Spec.Endpoint.NodePort.X }}: nil has no field X"],
    [
      "{{ index .Spec.Endpoint.Addresses 0 }}",
      "{{ index .Spec.Endpoint.Addresses 0 }}: index 0 of a list with 0 items",
    ],
    ["{{ if .Name }}x", "{{end}} is missing for {{ if .Name }}"],
    ["{{ if .Name }}x{{ else }}y", "{{end}} is missing for {{ if .Name }}"],
    ["{{ if .Name }}x{{ else }}y{{ else }}z{{ end }}", "a second else in {{ if .Name }}"],
    ["x{{ end }}", "{{ end }} closes nothing"],
    ["{{ .Name", /^an action does not end, }} is missing: {{ \.Name$/],
    ['{{ "x }}', /^a string does not end/],
    ["{{/* x }}", /^a comment does not end/],
    ["{{ }}", "a value is missing in {{ }}"],
    ["{{ .Name .Name }}", /^a value is followed by another/],
    ["{{ quote .Name }}", /^{{ quote \.Name }}: there is no function quote; there are and, or, not/],
    ["{{ .Name | .Name }}", /a function must follow \|/],
    ["{{ (.Name }}", "a ) is missing in {{ (.Name }}"],
    ["{{ .Name ! }}", 'cannot read "!" in {{ .Name ! }}'],
    ["{{ $x }}", "{{ $x }}: the variable $x is not declared"],
    ["{{ if .Name }}{{ $x := 1 }}{{ end }}{{ $x }}", "{{ $x }}: the variable $x is not declared"],
    ["{{ .Spec }}", /a whole object cannot be written out; name one of MTU/],
    [
      '{{ eq .Spec.MTU "1340" }}',
      '{{ eq .Spec.MTU "1340" }}: cannot compare the number 1340 and the string "1340"',
    ],
    ["{{ gt .Name 3 }}", /cannot order the string "milan" and the number 3/],
    ["{{ range .Name }}{{ end }}", '{{ range .Name }}: range over the string "milan"'],
    ['{{ template "x" }}', 'template is not supported: {{ template "x" }}'],
    ["{{ range .Spec.Endpoint.Ports }}{{ else if .Name }}{{ end }}", /^cannot read {{ else if \.Name }}/],
    ['{{ printf "%s" 3 }}', /printf cannot write the number 3 as %s/],
    ['{{ printf "%s" }}', /printf has no operand for %s/],
    ['{{ printf "x" 3 }}', /printf has more operands/],
    ["{{ __proto__ }}", /there is no function __proto__/],
    ["{{ .constructor }}", /there is no field constructor/],
  ];
  for (const [template, message] of refused) {
    it(`refuse ${JSON.stringify(template)}`, () =>
      assert.throws(() => renderTemplate(template, data), { name: "TemplateError", message }));
  }
});
