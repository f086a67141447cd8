import { Option } from "commander";

import { quantities, quantity } from "../values";

/** How much: `--cpu`, `--memory`, `--pods`, and `--resource` for the rest. */
export function amountOptions(defaults: { cpu?: string; memory?: string; pods?: string } = {}): Option[] {
  const amount = (flag: string, description: string, fallback: string | undefined) => {
    const option = new Option(flag, description).argParser(quantity);
    return fallback === undefined ? option : option.default(fallback);
  };
  return [
    amount("--cpu <amount>", "processors, such as 8 or 500m", defaults.cpu),
    amount("--memory <amount>", "memory, such as 16Gi", defaults.memory),
    amount("--pods <number>", "pods", defaults.pods),
    new Option("--resource <name=amount>", "any other resource; repeat for more").argParser(quantities),
  ];
}
