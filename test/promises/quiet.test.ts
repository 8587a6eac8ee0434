/** `-q` leaves nothing on stderr but errors, warnings and questions. */
import { expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

it("says nothing of what was done", async () => {
  const { ecm } = await startSandbox();
  const people = await inputFile("Email,Unsubscribed\nada@example.com,no\nbob@example.com,yes\n");
  for (const line of [
    "lists create News",
    "lists create News --if-missing",
    "lists rename News News",
    "import FILE --dry-run --show 5",
    "import FILE",
    "lists sync News FILE",
    "lists duplicate News Copy",
    "contact mutate ada@example.com --add-list News",
    "contact mutate --all --add-list News --yes",
    "contact search --all",
    "runs undo last",
    "contact unsubscribe ada@example.com --yes",
    "contact delete --all --yes",
    "suppressions add ada@example.com",
    "suppressions remove ada@example.com --yes",
    "runs remove last --yes",
    "lists delete Copy --yes",
  ]) {
    const args = line.split(" ").map((word) => (word === "FILE" ? people : word));
    const { code, stderr } = await ecm([...args, "-q"]);
    expect([line, code === 0 || code === 3, stderr]).toEqual([line, true, ""]);
  }
});

it("draws nothing at a terminal, and still asks", async () => {
  const { ecm } = await startSandbox();
  const people = await inputFile("Email\nada@example.com\n");
  const silent = await ecm(["import", people, "-q", "--yes"], { terminalColumns: 80 });
  expect([silent.code, silent.stderr]).toEqual([0, ""]);
  const more = await inputFile("Email\nbob@example.com\n");
  const asked = await ecm(["import", more, "-q"], { terminalColumns: 80, typed: "y\r" });
  expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining("1 contact")]);
  expect(asked.stderr).not.toContain("To send");
});

it("keeps rejected rows, people to be unsubscribed and cells that say nothing clear", async () => {
  const { ecm } = await startSandbox();
  await ecm(["contact", "create", "--key", "ada@example.com"]);
  const people = await inputFile(
    "Email,Subscribed\nada@example.com,no\nnonsense,yes\nbob@example.com,perhaps\ncy@example.com,yes\n",
  );
  const { code, stderr } = await ecm(["import", people, "-q"]);
  expect(code).toBe(3);
  expect(stderr).toContain("1 rejected");
  expect(stderr).toContain("rejects.csv");
  expect(stderr).toContain("ada@example.com (line 2)");
  expect(stderr).toContain('"perhaps"');
  expect(stderr).not.toContain("rate-limit");
  expect(stderr).not.toContain("requests sent");
});
