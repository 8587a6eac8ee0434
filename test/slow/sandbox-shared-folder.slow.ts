/** A folder that several processes use, for longer than the quick suite has time for. */
import { test } from "vitest";
import { callToolsBesideWrites, startAndStopBesideWrites } from "../sandbox/shared-folder.ts";

test("40 rounds: a process that starts and stops a sandbox leaves the writes of another process alone", async () => {
  await startAndStopBesideWrites(40);
});

test("40 rounds: a server for agents leaves the writes of commands alone", async () => {
  await callToolsBesideWrites(40);
});
