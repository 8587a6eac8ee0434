/** One story as it goes: the account, the program, the others, and what was written down to read it by. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Disturbance, People, StoryAccount } from "./account.ts";
import type { Ran } from "./checks.ts";
import type { Command } from "./oracle.ts";
import type { Act } from "./steps.ts";
import { keysFile, toCsv } from "./typed.ts";

export class Scene {
  readonly account: StoryAccount;
  readonly suppressed = new Set<string>();
  /** Everything that happened, for whoever reads a story that failed. */
  readonly log: string[] = [];
  /** Who was erased: no undo creates them again. */
  readonly erased = new Set<string>();
  /** The last run, with the account before and after it. */
  lastRun: { run: string; from: People; to: People; hasMadeList?: boolean } | undefined;
  /** The account after the last act of others. */
  afterOthers: People = new Map();
  private files = 0;

  constructor(account: StoryAccount) {
    this.account = account;
  }

  /** The path of a new file of the story. */
  newFile(name: string, extension: string): string {
    return join(this.account.folder, `${name}-${++this.files}.${extension}`);
  }

  async ecm(args: string[], disturbance?: Disturbance, act?: () => Promise<void>): Promise<Ran> {
    const result = await this.account.run(args, disturbance, act);
    const requests = result.sent.map((each) => `  ${each.method} ${each.path} ${each.status} ${each.body}`);
    const disturbed = disturbance ? ` ${JSON.stringify(disturbance)}` : "";
    this.log.push(`$ ecm ${args.join(" ")}  # exit ${result.code}${disturbed}`);
    this.log.push(`${result.stderr}${result.stdout}`, ...requests);
    return result;
  }

  async suppress(verb: "suppress" | "unsuppress", key: string): Promise<void> {
    if (verb === "suppress") this.suppressed.add(key);
    else this.suppressed.delete(key);
    await this.ecm(["suppressions", ...(verb === "suppress" ? ["add", key] : ["remove", key, "--yes"])]);
  }

  async erase(key: string): Promise<void> {
    // Until a search shows whoever was created last.
    await this.account.pass(60_000);
    const { code, stderr } = await this.ecm(["contact", "erase", key, "--yes"]);
    if (code !== 0 || this.account.people().has(key)) throw new Error(`${key} was not erased: ${stderr}`);
    this.suppressed.add(key);
    this.erased.add(key);
  }

  async others({ how, who }: Act): Promise<void> {
    const { account } = this;
    this.log.push(`others: ${how} ${who}`);
    const person = account.people().get(who);
    const { seed, events } = account.world.admin;
    if (how === "add" && !person) seed({ contacts: [{ key: who, fields: { City: "Theirs" } }] });
    else if (how === "bounce" && person) events({ key: who, type: "email-bounced" });
    else if (person) await this.request(how, `/api/contact/${person.id}`);
    this.afterOthers = account.people();
  }

  private async request(how: Act["how"], path: string): Promise<void> {
    const { account } = this;
    const { store, structureId } = account.world;
    if (how === "delete") await account.others("DELETE", path);
    const unsubscribed = { status: { primary: "Inactive", secondary: "Unsubscribe" } };
    if (how === "unsubscribe") await account.others("PATCH", path, unsubscribed);
    if (how === "edit") {
      const { _id } = store.structures.all()[0]!.fields.find(({ label }) => label === "City")!;
      await account.others("PUT", `${path}/mutate`, { updateFields: [{ _id, value: "Theirs" }] });
    }
    if (how === "join" || how === "leave") {
      const { _id } = store.lists.all(structureId).find(({ name }) => name === "News")!;
      const lists = [account.variants["mutate-elements"] === "id" ? _id : { _id }];
      const body = how === "join" ? { addLists: lists } : { removeLists: lists };
      await account.others("PUT", `${path}/mutate`, body);
    }
  }

  /** Writes the file that the command reads. */
  async writeInput(command: Command): Promise<string> {
    const file = this.newFile("input", "csv");
    const chosen = command.kind === "sync" ? command : "whom" in command ? command.whom : undefined;
    const text = command.kind === "import" ? toCsv(command) : chosen ? keysFile(chosen) : "";
    await writeFile(file, text);
    this.log.push(`${file}: ${JSON.stringify(text)}`);
    return file;
  }
}
