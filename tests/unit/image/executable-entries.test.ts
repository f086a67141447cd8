import assert from "node:assert/strict";
import { existsSync } from "node:fs";

import { parseLibraries, programPath, sharedLibraries } from "../../../runtime/image/executable-entries";

describe("executables in an image", () => {
  it("bring the libraries and the loader that they name", () => {
    const output = `\tlinux-vdso.so.1 (0x00007ffd)
\tlibmnl.so.0 => /lib/x86_64-linux-gnu/libmnl.so.0 (0x00007f17)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f16)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f18)
`;
    assert.deepEqual(parseLibraries(output), [
      "/lib/x86_64-linux-gnu/libmnl.so.0",
      "/lib/x86_64-linux-gnu/libc.so.6",
      "/lib64/ld-linux-x86-64.so.2",
    ]);
    assert.throws(() => parseLibraries("\tlibmnl.so.0 => not found\n"), /libmnl\.so\.0 is not installed/);
  });

  it("are found with libraries that exist", async () => {
    const libraries = await sharedLibraries(process.execPath);
    assert.ok(libraries.some((path) => path.includes("libc.so")));
    for (const path of libraries) assert.ok(existsSync(path), path);
  });

  it("that are missing are named with their package", () => {
    assert.throws(
      () => programPath({ name: "no-such-program", debianPackage: "no-package" }),
      /needs no-such-program, which is not installed; on Debian and Ubuntu: apt-get install no-package/,
    );
  });
});
