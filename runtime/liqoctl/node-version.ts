/** As package.json has it in `engines`: older ones lack what certificates are read with. */
const OLDEST = { major: 22, minor: 19 };

/**
 * What is wrong with the Node that runs this; undefined where it will do.
 *
 * @param version such as `24.1.0`
 */
export function nodeVersionFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined;
  return `liqoctl needs Node ${OLDEST.major}.${OLDEST.minor} or later, and this is ${version}; in a clone there is one: node_modules/.bin/node`;
}
