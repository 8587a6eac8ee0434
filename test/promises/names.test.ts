/** Names stand for ids everywhere. */
import { describe, expect, it } from "vitest";
import { type Ecm, done as printed } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const done = (ecm: Ecm, args: string | string[]) => printed(ecm(args));

describe("a name", () => {
  const odd = ["a,b", "a=b", 'c"d', "名簿", " x", "64f0c2a9e1b2c3d4e5f60718", "-dash", "\u0301é"];

  it.each(odd)("such as %j reaches a list, a tag and a field", async (name) => {
    const { ecm } = await startSandbox();
    const list = JSON.parse(await done(ecm, ["lists", "create", "--json", "--", name]));
    await done(ecm, ["structure", "tag", "add", "--", name]);
    await done(ecm, ["structure", "field", "add", "--", name]);
    const { fields, tags } = JSON.parse(await done(ecm, ["structure", "get", "--json"]));
    const field = name.includes("=") ? fields[2]._id : name;
    const args = ["contact", "create", "--key", "ada@example.com", "--json"];
    const contact = JSON.parse(
      await done(ecm, [...args, `--list=${name}`, `--tag=${name}`, `--set=${field}=v=1`]),
    );
    expect(contact).toMatchObject({
      lists: [{ _id: list._id }],
      tags: [{ _id: tags[0]._id }],
      fields: [{ _id: fields[2]._id, value: "v=1" }],
    });
    for (const condition of [`--list=${name}`, `--tag=${name}`]) {
      expect(await done(ecm, ["contact", "search", condition, "-o", "id"])).toBe(`${contact._id}\n`);
      expect(await done(ecm, ["export", condition, "-o", "id"])).toBe(`${contact._id}\n`);
    }
    const removal = [`--remove-list=${name}`, `--remove-tag=${name}`];
    await done(ecm, ["contact", "mutate", "ADA@example.com", ...removal]);
    expect(await done(ecm, ["contact", "search", `--tag=${name}`, "--json"])).toBe("[]\n");
  });

  it("matches exactly first, then without regard to case; two matches are listed with their ids", async () => {
    const { ecm } = await startSandbox();
    const ids: string[] = [];
    for (const name of ["news", "NEWS"])
      ids.push(JSON.parse(await done(ecm, `lists create ${name} --allow-duplicate --json`))._id);
    await done(ecm, "contact create --key ada@example.com --list NEWS");
    expect(await done(ecm, "contact search --list news --json")).toBe("[]\n");
    for (const line of ["export --list News", "contact search --list News"]) {
      const { code, stdout, stderr } = await ecm(line);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      for (const id of ids) expect(stderr).toContain(id);
    }
    const empty = await ecm("contact search --list ''");
    expect([2, 5]).toContain(empty.code);
  });
});
