import tseslint from "typescript-eslint";

const kubeFace = {
  regex: "/kube/.",
  message: 'runtime/kube is imported by its face: from "…/kube", never from a file behind it',
};

/** Forbids relative imports that leave a folder for one it must not know, and imports behind the face of runtime/kube. */
function forbid(files, patterns, message) {
  const own = patterns.length === 0 ? [] : [{ regex: patterns.join("|"), message }];
  return { files, rules: { "no-restricted-imports": ["error", { patterns: [...own, kubeFace] }] } };
}

/** The same for the Pulumi side, of which nothing knows the runtime's controllers. */
function pulumiSide(files, patterns, message) {
  return forbid(
    files,
    ["/runtime/(?!api|kube|identity|plan|image|networking/address-mapping$)", ...patterns],
    `the Pulumi side knows runtime/{api,kube,identity,plan,image} and how addresses are mapped, never the runtime's controllers${message && `; ${message}`}`,
  );
}

export default tseslint.config(
  {
    ignores: [
      "dist/**",
      ".build/**",
      "node_modules/**",
      "**/*.mjs",
      "**/*.js",
      "examples/**/node_modules/**",
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      eqeqeq: ["error", "always", { null: "ignore" }],
    },
  },
  // The last matching entry wins, so the general rules stand first.
  {
    ...forbid(["**/*.ts"], [], ""),
    ignores: ["tests/unit/kube/**", "tests/bench/**"],
  },
  forbid(
    ["runtime/**/*.ts"],
    ["/provider/", "/components/", "/plugin/", "@pulumi/"],
    "the runtime knows nothing of Pulumi",
  ),
  forbid(
    ["runtime/api/**/*.ts"],
    ["^\\.\\./\\.\\./(?!api/)", "/kube/", "@pulumi/"],
    "runtime/api knows nothing of the rest",
  ),
  forbid(["runtime/kube/*.ts"], ["^\\.\\./(?!api/)", "@pulumi/"], "runtime/kube knows runtime/api only"),
  ...Object.entries({
    client: [],
    cache: ["client"],
    controller: ["client", "cache"],
    election: ["client"],
    manager: ["client", "cache", "controller", "election"],
  }).map(([folder, below]) =>
    forbid(
      [`runtime/kube/${folder}/**/*.ts`],
      [`^\\.\\./(?!\\.\\./api/|clock$|log$|(${["-", ...below].join("|")})/)`, "@pulumi/"],
      `runtime/kube/${folder} knows ${["runtime/api", "the clock", "the log", ...below].join(", ")} only`,
    ),
  ),
  forbid(
    ["runtime/identity/**/*.ts", "runtime/plan/**/*.ts"],
    [
      "^(\\.\\./)+(?!\\.\\./|api/|identity/|plan/|rbac/networking$|ipam/(cidr|ipam|pools|network-stage)$)[a-z-]+/",
      "@pulumi/",
    ],
    "runtime/identity and runtime/plan are pure: they know runtime/api, and of runtime/ipam the arithmetic of networks and the memory of what is in use",
  ),
  forbid(
    ["runtime/ipam/**/*.ts"],
    ["^\\.\\./(?!api(/|$)|kube$|plan/peer-(namespace|objects)$)", "@pulumi/"],
    "the controllers of runtime/ipam know runtime/{api,kube} and which namespaces are tenants'",
  ),
  forbid(
    ["runtime/ipam/{cidr,ipam,network-stage,next-fit,own-addresses,pools,prefix-tree}.ts"],
    [
      "^\\.\\./(?!api(/|$))",
      "^\\./(?!(cidr|ipam|network-stage|next-fit|own-addresses|pools|prefix-tree)$)",
      "@pulumi/",
    ],
    "the arithmetic of networks and the memory of what is in use know runtime/api only",
  ),
  forbid(
    ["runtime/networking/**/*.ts"],
    [
      "^(\\.\\./)+(authentication|controller-manager|foreign-cluster|image|liqoctl|metric-agent|offloading|proxy|replication|telemetry|virtual-kubelet|webhooks)(/|$)",
      "^\\.\\./\\.\\./(fabric|gateway)(/|$)",
      "@pulumi/",
    ],
    "runtime/networking knows runtime/{api,kube,identity,plan,ipam}",
  ),
  forbid(
    ["runtime/networking/{agent,firewall,kernel,routes}/**/*.ts"],
    [
      "^\\.\\./(addresses|configuration|fabric|gateway|template)/",
      "^\\.\\./(caches|generated|networking-context|start)$",
      "^\\.\\./\\.\\./(?!api(/|$)|kube$|ipam/|component/flags$)",
      "@pulumi/",
    ],
    "what agents apply knows runtime/{api,kube,ipam}, never the controllers that decide it",
  ),
  forbid(
    ["runtime/networking/{addresses,configuration,fabric,gateway,template}/**/*.ts"],
    ["^\\.\\./(agent|kernel)/", "^\\.\\./\\.\\./(?!api(/|$)|kube$|identity$|plan/|ipam/)", "@pulumi/"],
    "the networking controllers know runtime/{api,kube,identity,plan,ipam}, never the agents: a Configuration reaches those as an object of the API",
  ),
  forbid(
    ["runtime/gateway/**/*.ts", "runtime/fabric/**/*.ts"],
    [
      "^\\.\\./(?!api(/|$)|kube$|identity$|component/|ipam/cidr$|networking/)",
      "^\\.\\./networking/(addresses|configuration|fabric|gateway|routes/validation|template)/",
      "^\\.\\./networking/(admission|caches|generated|networking-context|start)$",
      "@pulumi/",
    ],
    "the agents know runtime/{api,kube,identity} and what runtime/networking applies, never its controllers nor those of other folders",
  ),
  forbid(
    ["runtime/liqoctl/**/*.ts"],
    [
      "^(\\.\\./)+(authentication|component|controller-manager|fabric|foreign-cluster|gateway|image|ipam|metric-agent|networking|offloading|proxy|replication|virtual-kubelet|webhooks)(/|$)",
      "/provider/",
      "/components/",
      "@pulumi/",
    ],
    "liqoctl knows runtime/{api,kube,identity,plan}, never the controllers nor the Pulumi side",
  ),
  pulumiSide(
    ["provider/**/*.ts"],
    ["/components(/|$)", "/plugin(/|$)"],
    "provider knows neither the components nor the plugin",
  ),
  pulumiSide(
    ["provider/core/**/*.ts"],
    ["^\\.\\./(?!\\.\\./)", "^\\.\\.$"],
    "provider/core knows none of the resources",
  ),
  pulumiSide(
    ["components/*.ts", "components/fleet/**/*.ts"],
    ["/plugin(/|$)"],
    "the components do not know the plugin",
  ),
  pulumiSide(
    ["components/core/**/*.ts"],
    ["^\\.\\./(?!\\.\\./)", "^\\.\\.$", "/plugin(/|$)"],
    "components/core knows none of the components",
  ),
  pulumiSide(
    ["components/installation/**/*.ts", "components/offloading/**/*.ts"],
    ["^\\.\\./(?!\\.\\./|core/)", "^\\.\\.$", "/plugin(/|$)"],
    "installation and offloading know components/core only",
  ),
  pulumiSide(
    ["components/peering/**/*.ts"],
    ["^\\.\\./(?!\\.\\./|core/|installation/|offloading/)", "^\\.\\.$", "/plugin(/|$)"],
    "peering knows components/{core,installation,offloading} only",
  ),
  pulumiSide(["plugin/**/*.ts"], [], ""),
);
