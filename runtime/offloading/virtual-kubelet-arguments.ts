/** Arguments of the form `--key=value`, in order, as a container has them. */
export type Arguments = readonly string[];

/** The key of an argument, without dashes: `--nodename=milan` and `--nodename` both have `nodename`. */
export function argumentKey(argument: string): string {
  const text = argument.replace(/^--?/, "");
  const equals = text.indexOf("=");
  return equals < 0 ? text : text.slice(0, equals);
}

/** The value of an argument; undefined when it has none or is not there. */
export function argumentValue(list: Arguments, key: string): string | undefined {
  const argument = list.find((one) => argumentKey(one) === key);
  const equals = argument?.indexOf("=") ?? -1;
  return argument === undefined || equals < 0 ? undefined : argument.slice(equals + 1);
}

/** The list with an argument replaced where it stands, or appended. */
export function withArgument(list: Arguments, key: string, value: string): string[] {
  const argument = `--${key}=${value}`;
  const at = list.findIndex((one) => argumentKey(one) === key);
  return at < 0 ? [...list, argument] : list.map((one, index) => (index === at ? argument : one));
}

/** The list without an argument. */
export function withoutArgument(list: Arguments, key: string): string[] {
  return list.filter((one) => argumentKey(one) !== key);
}

/** `a=1,b=2`, sorted, as map-valued flags take it. */
export function mapArgument(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${map[key]}`)
    .join(",");
}

/** The reverse of {@link mapArgument}; an entry without `=` has an empty value. */
export function parseMapArgument(text: string): Record<string, string> {
  const map: Record<string, string> = {};
  for (const entry of text.split(",")) {
    const equals = entry.indexOf("=");
    const key = (equals < 0 ? entry : entry.slice(0, equals)).trim();
    if (key !== "") map[key] = equals < 0 ? "" : entry.slice(equals + 1);
  }
  return map;
}
