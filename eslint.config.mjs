import tseslint from "typescript-eslint";

/** Forbids relative imports that leave a folder for one it must not know. */
function forbid(files, patterns, message) {
  return {
    files,
    rules: { "no-restricted-imports": ["error", { patterns: [{ regex: patterns.join("|"), message }] }] },
  };
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
  // The last matching entry wins, so the general rule stands first.
  forbid(
    ["runtime/**/*.ts"],
    ["/provider/", "/components/", "@pulumi/"],
    "the runtime knows nothing of Pulumi",
  ),
  forbid(
    ["runtime/api/**/*.ts"],
    ["^\\.\\./\\.\\./(?!api/)", "/kube/", "@pulumi/"],
    "runtime/api knows nothing of the rest",
  ),
  forbid(
    ["runtime/kube/**/*.ts"],
    ["^\\.\\./(?!api/|kube/)[a-z-]+/", "@pulumi/"],
    "runtime/kube knows runtime/api only",
  ),
  forbid(
    ["runtime/identity/**/*.ts", "runtime/plan/**/*.ts"],
    [
      "^(\\.\\./)+(?!\\.\\./|api/|identity/|plan/|networking/names$|ipam/(address|allocation-error|cidr|ipam|pools|special-ranges|network-stage)$)[a-z-]+/",
      "@pulumi/",
    ],
    "runtime/identity and runtime/plan are pure: they know runtime/api, and of runtime/ipam the arithmetic of networks and the memory of what is in use",
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
  forbid(
    ["provider/**/*.ts", "components/**/*.ts"],
    ["/runtime/(?!api|kube|identity|plan|image|networking/address-mapping$)"],
    "the Pulumi side knows runtime/{api,kube,identity,plan,image} and how addresses are mapped, never the runtime's controllers",
  ),
);
