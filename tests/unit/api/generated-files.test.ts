import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { parse } from "yaml";

import { crds, packageRoot } from "../../../runtime/api";
import { CRD_FOLDER, generatedFiles, REFERENCE_FOLDER } from "../../../runtime/api/generate/generated-files";

describe("the generated files", function () {
  this.timeout(180_000); // a megabyte of YAML on a busy machine
  const generated = generatedFiles();

  it("are those that are checked in; if not, run `npm run generate`", () => {
    for (const [path, content] of generated) {
      assert.equal(
        readFileSync(join(packageRoot(), path), "utf8"),
        content,
        `${path} differs from its schema`,
      );
    }
  });

  it("are all that lies in their folders", () => {
    const found = [CRD_FOLDER, REFERENCE_FOLDER].flatMap((folder) =>
      readdirSync(join(packageRoot(), folder)).map((name) => `${folder}/${name}`),
    );
    assert.deepEqual(found.sort(), [...generated.keys()].sort());
  });

  it("hold the objects that are installed", () => {
    const objects = crds();
    assert.equal(objects.length, 28);
    for (const crd of objects) {
      const { group, names } = crd.spec;
      const text = generated.get(`${CRD_FOLDER}/${group}_${names.plural}.yaml`) ?? "";
      assert.deepEqual(parse(text), JSON.parse(JSON.stringify(crd)), crd.metadata.name);
    }
  });

  it("fit into the annotation that kubectl apply writes", () => {
    for (const crd of crds()) {
      const size = Buffer.byteLength(JSON.stringify(crd));
      assert.ok(size < 250_000, `${crd.metadata.name} has ${size} bytes`);
    }
  });

  it("hold no reference, no closed object and no bound that is the integer's own", () => {
    for (const crd of crds()) {
      const text = JSON.stringify(crd);
      for (const word of [
        "$ref",
        "x-embedded",
        "x-one-or-many",
        '"additionalProperties":false',
        "9007199254740991",
      ]) {
        assert.ok(!text.includes(word), `${crd.metadata.name} holds ${word}`);
      }
    }
  });
});
