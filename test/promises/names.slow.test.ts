/** Names stand for ids everywhere. */
import { describe, expect, it } from "vitest";
import { done, readJson, refused, startSandbox } from "../kit.ts";

describe("a name", () => {
  const odd = ["a,b", "a=b", 'c"d', "名簿", " x", "64f0c2a9e1b2c3d4e5f60718", "-dash", "\u0301é"];

  it.each(odd)("such as %j reaches a list, a tag and a field", async (name) => {
    const { ecm } = await startSandbox();
    const list = JSON.parse(await done(ecm(["lists", "create", "--json", "--", name])));
    for (const part of ["tag", "field"]) await done(ecm(["structure", part, "add", "--", name]));
    const { fields, tags } = await readJson(ecm, "structure get");
    const field = name.includes("=") ? fields[2]._id : name;
    const values = [`--list=${name}`, `--tag=${name}`, `--set=${field}=v=1`];
    const contact = await readJson(ecm, ["contact", "create", "--key", "ada@example.com", ...values]);
    expect(contact).toMatchObject({
      lists: [{ _id: list._id }],
      tags: [{ _id: tags[0]._id }],
      fields: [{ _id: fields[2]._id, value: "v=1" }],
    });
    const found = `${contact._id}\n`;
    expect(await done(ecm(["contact", "search", `--list=${name}`, "-o", "id"]))).toBe(found);
    expect(await done(ecm(["export", `--tag=${name}`, "-o", "id"]))).toBe(found);
    const removal = [`--remove-list=${name}`, `--remove-tag=${name}`];
    await done(ecm(["contact", "mutate", "ADA@example.com", ...removal]));
    expect(await readJson(ecm, ["contact", "search", `--tag=${name}`])).toEqual([]);
  });

  it("matches exactly first, then without regard to case; two matches are listed with their ids", async () => {
    const { ecm } = await startSandbox({ contents: { lists: ["news"] } });
    await done(ecm("lists create NEWS --allow-duplicate"));
    const ids: { _id: string }[] = await readJson(ecm, "lists list");
    await done(ecm("contact create --key ada@example.com --list NEWS"));
    expect(await readJson(ecm, "contact search --list news")).toEqual([]);
    for (const line of ["export --list News", "contact search --list News"])
      await refused(ecm(line), 2, ...ids.map(({ _id }) => _id));
  });
});
