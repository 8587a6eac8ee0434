import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import type { Folders } from "../../src/config/folders.ts";
import { openProfiles, type ProfileStore, toProfilesPath } from "../../src/config/profiles.ts";
import type { EcmError } from "../../src/errors.ts";
import { temporaryFolder } from "../support/ecm.ts";

let folders: Folders;
let profiles: ProfileStore;

beforeEach(async () => {
  const home = await temporaryFolder();
  folders = { config: join(home, "config"), state: join(home, "state"), cache: join(home, "cache") };
  profiles = await openProfiles(folders);
});

const readMode = async (path: string) => (await stat(path)).mode & 0o777;
const profile = { baseUrl: "https://api.example.com", apiKey: "ecm_us_x" };

it("profiles leave nothing on disk when they are only looked at", async () => {
  expect(profiles.names()).toEqual(["sandbox"]);
  expect(profiles.current()).toBeUndefined();
  await expect(stat(folders.config)).rejects.toThrow("ENOENT");
});

it("profiles that cannot be written name the folder's fault and the variable for another", async () => {
  const config = "/dev/null/config";
  const message = `Cannot write the profiles to ${config}/profiles.json: a part of the path is a file (ENOTDIR)`;
  const details = { hint: "Name a folder that can be written with ECM_CONFIG_DIR" };
  const unwritable = await openProfiles({ ...folders, config });
  const save = async () => unwritable.save("work", profile);
  await expect(save()).rejects.toMatchObject({ message, details });
});

it("profiles mend rights that are too wide", async () => {
  profiles.save("work", profile);
  await chmod(folders.config, 0o755);
  await chmod(toProfilesPath(folders), 0o644);
  expect((await openProfiles(folders)).get("work")).toEqual(profile);
  expect(await readMode(folders.config)).toBe(0o700);
  expect(await readMode(toProfilesPath(folders))).toBe(0o600);
});

it("profiles are there for the next process; the first becomes the current one", async () => {
  profiles.save("work", profile);
  profiles.save("home", { baseUrl: "https://other.example.com", apiKeyCommand: "echo x", readOnly: true });
  const second = await openProfiles(folders);
  expect(second.names()).toEqual(["work", "home", "sandbox"]);
  expect(second.current()).toBe("work");
  second.use("home");
  second.remove("work");
  expect(profiles.names()).toEqual(["home", "sandbox"]);
  expect(profiles.current()).toBe("home");
  second.remove("home");
  expect(profiles.current()).toBeUndefined();
});

it.each(["a.b", "x@example.com", "Ä-1", "hasOwn"])("profiles may be named %j", async (name) => {
  profiles.save(name, profile);
  expect((await openProfiles(folders)).get(name)).toEqual(profile);
});

const inherited = ["__proto__", "constructor", "toString"];
const odd = ["", "-x", "a b", "a/b", "..", "\u001b[31m", "x".repeat(101)];
it.each([...odd, ...inherited])("profiles may not be named %j", async (name) => {
  expect(() => profiles.save(name, profile)).toThrow(expect.objectContaining({ kind: "usage" }));
  expect(profiles.get(name)).toBeUndefined();
});

it("profiles always hold the embedded service, which is neither overwritten nor removed", async () => {
  expect(() => profiles.save("sandbox", profile)).toThrow(/embedded service/);
  expect(() => profiles.remove("sandbox")).toThrow(/embedded service/);
  profiles.use("sandbox");
  expect(profiles.current()).toBe("sandbox");
  expect(profiles.get("sandbox")).toEqual({});
});

it("profiles that do not exist are neither used nor removed", async () => {
  profiles.save("work", profile);
  expect(() => profiles.use("wrok")).toThrow(/profiles?: work, sandbox|no profile "wrok"/);
  expect(() => profiles.remove("wrok")).toThrow(expect.objectContaining({ kind: "usage" }));
});

it.each([
  ["no JSON", '{"profiles": {"work": {"apiKey": "ecm_us_secret"'],
  ["an array", "[1]"],
  ["a text", '"ecm_us_secret"'],
  ["null", "null"],
  ["a wrong profile", '{"version":1,"profiles":{"work":"ecm_us_secret"}}'],
  ["a wrong key", '{"version":1,"profiles":{"work":{"apiKey":7}}}'],
  ["a wrong choice", '{"version":1,"current":["ecm_us_secret"]}'],
  ["nothing", ""],
  ["another version", '{"version":9,"profiles":{"work":{"apiKey":"ecm_us_secret"}}}', "failed"],
  ["no version", '{"profiles":{"work":{"apiKey":"ecm_us_secret"}}}', "failed"],
])("profiles in a file that holds %s are refused by its name", async (_name, content, kind = "usage") => {
  await mkdir(folders.config, { recursive: true });
  await writeFile(toProfilesPath(folders), content);
  for (const act of [() => profiles.names(), () => profiles.save("work", profile)]) {
    const failure = await Promise.resolve()
      .then(act)
      .catch((error: EcmError) => error);
    const message = expect.stringContaining(toProfilesPath(folders));
    expect(failure).toMatchObject({ kind, message });
    const { details, message: said } = failure as EcmError;
    expect(JSON.stringify(details) + said).not.toContain("secret");
  }
  expect(await readFile(toProfilesPath(folders), "utf8")).toBe(content);
});
