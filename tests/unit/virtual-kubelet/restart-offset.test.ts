import assert from "node:assert/strict";
import type { PodStatus } from "kubernetes-types/core/v1";

import { rememberRestarts, type RestartMemory } from "../../../runtime/virtual-kubelet/pods/pod-status";

const counted = (restartCount: number, name = "app"): PodStatus => ({
  containerStatuses: [{ name, restartCount, ready: true, image: "", imageID: "" }],
});

describe("rememberRestarts", () => {
  const first: RestartMemory = { localUid: "l1", remoteUid: "r1", offset: 0 };
  const cases: {
    what: string;
    memory?: RestartMemory;
    local?: PodStatus;
    localUid?: string;
    remote?: PodStatus;
    remoteUid?: string;
    offset: number;
  }[] = [
    { what: "starts from nothing", offset: 0 },
    {
      what: "takes up what the local pod shows after a start",
      local: counted(5),
      remote: counted(2),
      offset: 3,
    },
    { what: "never counts below the remote pod", local: counted(1), remote: counted(4), offset: 0 },
    {
      what: "counts from zero where the remote has no such container",
      local: counted(2),
      remote: counted(9, "x"),
      offset: 2,
    },
    {
      what: "keeps its count for the same remote pod",
      memory: { ...first, offset: 2 },
      local: counted(9),
      offset: 2,
    },
    {
      what: "counts a remote pod that replaced another",
      memory: { ...first, offset: 2 },
      remoteUid: "r2",
      offset: 3,
    },
    {
      what: "forgets an earlier local pod of that name",
      memory: { ...first, offset: 7 },
      localUid: "l2",
      remoteUid: "r2",
      offset: 0,
    },
  ];
  for (const { what, memory, local, remote, offset, localUid = "l1", remoteUid = "r1" } of cases) {
    it(what, () => {
      const remembered = rememberRestarts(
        memory,
        { uid: localUid, status: local },
        { uid: remoteUid, status: remote },
      );
      assert.deepEqual(remembered, { localUid, remoteUid, offset });
    });
  }
});
