import assert from "node:assert/strict";
import { z } from "zod";
import {
  flagName,
  readFlags,
  refuseUnknownFlags,
  splitCommandLine,
} from "../../../runtime/component/command-line";
import {
  boolean,
  duration,
  ignored,
  integer,
  list,
  oneOf,
  pairs,
  parsed,
  required,
  text,
} from "../../../runtime/component/flags";

const flags = z.object({
  clusterId: required(/^[a-z]+$/, "give the cluster's ID in lower case"),
  trustedCa: boolean(false),
  pingInterval: duration(15_000),
  workers: integer(1, 1, 50),
  enforcement: oneOf(["None", "Hard"], "None"),
  clusterLabels: pairs(),
  podcidr: list(),
  address: text(":8082"),
  classes: parsed("", (value) => {
    if (value === "bad") throw new Error("holds a bad class");
    return value.split(";");
  }),
  clientQps: ignored(),
});
const read = (...words: string[]) => readFlags(splitCommandLine(["manager", ...words]), flags);

describe("the command line of the runtime", () => {
  it("has defaults for all but the required flags", () => {
    assert.deepEqual(read("--cluster-id=rome"), {
      clusterId: "rome",
      trustedCa: false,
      pingInterval: 15_000,
      workers: 1,
      enforcement: "None",
      clusterLabels: {},
      podcidr: [],
      address: ":8082",
      classes: [""],
      clientQps: undefined,
    });
  });

  it("reads values of every type, attached or as the next word", () => {
    assert.deepEqual(
      read(
        ...[
          "--cluster-id",
          "rome",
          "--trusted-ca",
          "--ping-interval=1m30s",
          "--workers=3",
          "--enforcement",
          "Hard",
        ],
        ...["--cluster-labels=a=b,region=eu=1", "--cluster-labels", "c="],
        ...["--podcidr=10.1.0.0/16", "--podcidr=10.2.0.0/16,10.3.0.0/16", "--address=", "--classes=x;y"],
        "--client-qps=100",
      ),
      {
        clusterId: "rome",
        trustedCa: true,
        pingInterval: 90_000,
        workers: 3,
        enforcement: "Hard",
        clusterLabels: { a: "b", region: "eu=1", c: "" },
        podcidr: ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"],
        address: "",
        classes: ["x", "y"],
        clientQps: undefined,
      },
    );
  });

  it("takes the last of a repeated single flag", () => {
    assert.equal(read("--cluster-id=rome", "--cluster-id=milan").clusterId, "milan");
  });

  for (const [given, ms] of [
    ["0", 0],
    ["0s", 0],
    ["250ms", 250],
    ["10h", 36_000_000],
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
  ] as const) {
    it(`reads the time ${given}`, () => {
      assert.equal(read("--cluster-id=rome", `--ping-interval=${given}`).pingInterval, ms);
    });
  }

  it("names each faulty flag, its value and the way out", () => {
    assert.throws(
      () =>
        read(
          "--trusted-ca=maybe",
          "--ping-interval=15",
          "--workers=0",
          "--enforcement=hard",
          "--classes=bad",
        ),
      {
        name: "UsageError",
        message: [
          "--cluster-id is missing; give the cluster's ID in lower case",
          '--trusted-ca is "maybe"; write true or false',
          '--ping-interval is "15"; write a time such as 15s, 5m or 1h30m',
          '--workers is "0"; write a whole number from 1 to 50',
          '--enforcement is "hard"; write one of None, Hard',
          "--classes holds a bad class",
        ].join("\n"),
      },
    );
    assert.throws(() => read("--cluster-id=rome", "--cluster-labels=a"), {
      message: '--cluster-labels has "a"; write key=value',
    });
  });

  it("refuses a flag that no component has, and names the one meant", () => {
    const line = splitCommandLine(["a,b", "--trustd-ca=true"]);
    assert.throws(() => refuseUnknownFlags(line, [flags, z.object({ other: text() })]), {
      message: "--trustd-ca is not a flag of a, b; did you mean --trusted-ca?",
    });
    refuseUnknownFlags(splitCommandLine(["a", "--other=1", "--klog.v=4"]), [
      flags,
      z.object({ other: text() }),
    ]);
  });

  it("wants a component first", () => {
    for (const words of [[], ["--x"], [","]])
      assert.throws(() => splitCommandLine(words), /name the component/);
    assert.throws(() => splitCommandLine(["a", "stray"]), {
      message: '"stray" is not a flag; write --name=value',
    });
    assert.deepEqual(splitCommandLine(["a,b"]).components, ["a", "b"]);
  });

  it("names flags as upstream does", () => {
    assert.equal(flagName("apiServerAddressOverride"), "api-server-address-override");
  });
});
