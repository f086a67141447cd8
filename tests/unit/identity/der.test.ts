import assert from "node:assert/strict";
import fc from "fast-check";
import {
  DerError,
  directoryString,
  element,
  oid,
  readElement,
  readElements,
  readOid,
  tag,
  unsignedInteger,
} from "../../../runtime/identity/der";

describe("DER", () => {
  it("reads back what it writes, at every length form", () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 127, 128, 255, 256, 65535, 65536), fc.nat(255), (length, fill) => {
        const body = Buffer.alloc(length, fill);
        const read = readElement(element(tag.octetString, body), tag.octetString);
        assert.deepEqual(read.body, body);
      }),
    );
  });

  it("reads object identifiers that it writes, in their shortest form alone", () => {
    const read = (bytes: Buffer) => readOid(readElements(bytes)[0]);
    for (const dotted of ["2.5.4.3", "1.2.840.113549.1.9.14", "0.9.2342", "2.999.1", "1.3.6.1.4.1.57683.2"])
      assert.equal(read(dotted === "2.999.1" ? Buffer.from("0603883701", "hex") : oid(dotted)), dotted);
    const uuid = "2.25.329800735698586629295641978511506172918";
    assert.equal(read(Buffer.from("06146983f09da7ebcfdee0c7a1a7b2c0948cc8f9d776", "hex")), uuid);
    for (const bytes of [
      "0600",
      "060255",
      "06045504",
      "060455048003",
      "0603800403",
      "06025584",
      "0403550403",
    ])
      assert.throws(() => read(Buffer.from(bytes, "hex")), DerError, bytes);
  });

  it("writes object identifiers with arcs above 127", () => {
    assert.equal(oid("1.2.840.113549.1.1.11").toString("hex"), "06092a864886f70d01010b");
    assert.equal(oid("1.3.101.112").toString("hex"), "06032b6570");
    assert.equal(oid("2.5.4.10").toString("hex"), "060355040a");
  });

  it("writes integers in their shortest form and never negative", () => {
    const hex = (bytes: number[]) => unsignedInteger(Buffer.from(bytes)).toString("hex");
    assert.deepEqual(
      [hex([0]), hex([]), hex([0, 0, 1]), hex([0x80]), hex([0x7f])],
      ["020100", "020100", "020101", "02020080", "02017f"],
    );
  });

  it("chooses the string type by alphabet", () => {
    const typeOf = (text: string) => readElements(directoryString(text))[0]?.tag;
    assert.equal(typeOf("liqo.io"), tag.printableString);
    for (const text of ["a_b", "a*", "a&b", "città"]) assert.equal(typeOf(text), tag.utf8String, text);
  });

  for (const [name, hex] of [
    ["a header cut off", "30"],
    ["contents cut off", "3003020101aa".slice(0, 8)],
    ["an indefinite length", "30800000"],
    ["a length not in its shortest form", "04810100"],
    ["a tag number above 30", "1f8101"],
  ] as const) {
    it(`refuses ${name}`, () => assert.throws(() => readElements(Buffer.from(hex, "hex")), DerError));
  }
});
