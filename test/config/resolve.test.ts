import { expect, it } from "vitest";
import type { Profile, ProfileStore } from "../../src/config/profiles.ts";
import { resolveProfile } from "../../src/config/resolve.ts";
import { type GlobalFlags, readSettings } from "../../src/config/settings.ts";
import type { EcmError } from "../../src/errors.ts";
import { formatHint } from "../../src/hint.ts";

const work: Profile = { baseUrl: "https://work.example.com", apiKey: "key-of-work", structure: "Work" };
const home: Profile = { baseUrl: "https://home.example.com", apiKey: "key-of-home", readOnly: true };

function store(profiles: Record<string, Profile>, current?: string): ProfileStore {
  const names = () => [...Object.keys(profiles), "sandbox"];
  const get = (name: string) => (name === "sandbox" ? {} : profiles[name]);
  const never = () => {
    throw new Error("nothing is written here");
  };
  return { names, get, current: () => current, save: never, use: never, remove: never };
}

const both = store({ work, home }, "work");
const resolve = (flags: GlobalFlags, env: Record<string, string>, profiles = both) =>
  resolveProfile(readSettings(flags, env), async () => profiles, env);

const other = "https://other.example.com";

const given = { ECM_API_KEY: "k", ECM_BASE_URL: other };
it.each<[string, GlobalFlags, Record<string, string>, string]>([
  ["the current profile", {}, {}, "work key-of-work default"],
  ["ECM_PROFILE", {}, { ECM_PROFILE: "home" }, "home key-of-home environment"],
  ["--profile", { profile: "home" }, {}, "home key-of-home flag"],
  ["--profile before ECM_PROFILE", { profile: "work" }, { ECM_PROFILE: "home" }, "work key-of-work flag"],
  ["ECM_API_KEY before the profile's", {}, { ECM_API_KEY: "k" }, "work k default"],
  ["both from the environment, without a profile", {}, given, "other k undefined"],
  ["--base-url before ECM_BASE_URL", { baseUrl: "https://x.example.com" }, given, "x k undefined"],
  ["address and key before a named profile's", { profile: "home" }, given, "other k flag"],
  ["address for a named profile", { profile: "home" }, { ECM_BASE_URL: other }, "other key-of-home flag"],
  ["a path on its own server", {}, { ECM_BASE_URL: `${work.baseUrl}/v2` }, "work/v2 key-of-work default"],
  ["an empty variable as none", {}, { ECM_PROFILE: "", ECM_API_KEY: "" }, "work key-of-work default"],
])("the account is chosen by: %s", async (_name, flags, env, expected) => {
  const { baseUrl, name, key, isSandbox } = await resolve(flags, env);
  const host = baseUrl.value.replace(/^https:\/\/(\w+)\.example\.com/, "$1");
  expect(`${host} ${(await key()).value} ${name?.source}`).toBe(expected);
  expect(isSandbox).toBe(false);
});

it("the account says where address, key and structure come from", async () => {
  const sources = async (flags: GlobalFlags, env: Record<string, string>) => {
    const { baseUrl, key, structure } = await resolve(flags, env);
    return [baseUrl.source, (await key()).source, structure?.source, structure?.value].join(" ");
  };
  expect(await sources({}, {})).toBe("profile profile profile Work");
  const env = { ECM_API_KEY: "k", ECM_STRUCTURE: "S", ECM_PROFILE: "work" };
  expect(await sources({ baseUrl: other }, env)).toBe("flag environment environment S");
});

it.each<[GlobalFlags, Record<string, string>, boolean]>([
  [{}, { ECM_BASE_URL: other }, true],
  [{}, { ECM_BASE_URL: "https://work.example.com:8443" }, true],
  [{}, { ECM_BASE_URL: other, ECM_PROFILE: "work" }, true],
  [{ baseUrl: other }, {}, false],
  [{ profile: "work" }, { ECM_BASE_URL: other }, false],
  [{}, { ECM_BASE_URL: "https://work.example.com/v2" }, false],
  [{}, { ECM_BASE_URL: other, ECM_API_KEY: "k" }, false],
])("warns where variables alone send a profile's key elsewhere: %o %o %s", async (flags, env, isWarned) => {
  const { baseUrl, warning } = await resolve(flags, env);
  expect(baseUrl.value).toBe(flags.baseUrl ?? env.ECM_BASE_URL);
  expect(warning !== undefined).toBe(isWarned);
});

it.each<[GlobalFlags, Record<string, string>, string | undefined]>([
  [{ profile: "home" }, { ECM_BASE_URL: other, ECM_API_KEY: "k" }, "profile home"],
  [{}, { ECM_PROFILE: "home", ECM_BASE_URL: other, ECM_API_KEY: "k" }, "profile home"],
  [{ profile: "home" }, { ECM_BASE_URL: "https://home.example.com", ECM_API_KEY: "k" }, undefined],
  [{ profile: "home", baseUrl: other }, { ECM_API_KEY: "k" }, undefined],
])("warns where variables replace the account of a named profile: %o %o %s", async (flags, env, named) => {
  const { warning } = await resolve(flags, env);
  if (named === undefined) expect(warning).toBeUndefined();
  else expect(warning).toContain(`${other} is used, not the account of ${named}`);
});

const plain = "http://other.example.com";
it.each<[string, GlobalFlags, Record<string, string>, ProfileStore]>([
  ["--base-url", { baseUrl: plain }, { ECM_API_KEY: "k" }, both],
  ["ECM_BASE_URL", {}, { ECM_API_KEY: "k", ECM_BASE_URL: "ftp://x" }, both],
  ["profile work", {}, {}, store({ work: { ...work, baseUrl: plain } }, "work")],
])("the account is refused where its address is not safe: %s", async (place, flags, env, profiles) => {
  await expect(resolve(flags, env, profiles)).rejects.toThrow(place);
});

it("the account goes without encryption to the one host that ECM_INSECURE_HTTP names, and says so", async () => {
  const env = { ECM_BASE_URL: "http://sandbox:8080", ECM_API_KEY: "key" };
  await expect(resolve({}, env)).rejects.toThrow(expect.objectContaining({ kind: "usage" }));
  const { baseUrl, warning } = await resolve({}, { ...env, ECM_INSECURE_HTTP: "sandbox:8080" });
  expect(baseUrl.value).toBe("http://sandbox:8080");
  const told = "ECM_INSECURE_HTTP is set: the API key goes to http://sandbox:8080 without encryption";
  expect(warning).toBe(told);
});

it("the account asks for no profiles when address and key are both given", async () => {
  const opened = () => Promise.reject(new Error("opened"));
  expect((await resolveProfile(readSettings({}, given), opened, given)).name).toBeUndefined();
});

it.each<[string, GlobalFlags, Record<string, string>, ProfileStore, object]>([
  ["no profile", {}, {}, store({}), { kind: "no key", exitCode: 4 }],
  ["an unknown profile", { profile: "no" }, {}, both, { type: "UnknownProfileError", exitCode: 2 }],
  ["a key alone", {}, { ECM_API_KEY: "k" }, store({}), { exitCode: 2 }],
  ["the sandbox at an address", { profile: "sandbox", baseUrl: other }, {}, both, { kind: "usage" }],
  ["a current sandbox, an address", {}, { ECM_BASE_URL: other }, store({}, "sandbox"), { kind: "no key" }],
])("the account is refused for %s", async (_name, flags, env, profiles, error) => {
  await expect(resolve(flags, env, profiles)).rejects.toMatchObject(error);
});

it("the account is the embedded service for sandbox, unless address and key are both given for a current one", async () => {
  expect((await resolve({ profile: "sandbox" }, given)).isSandbox).toBe(true);
  expect((await resolve({}, { ...given, ECM_PROFILE: "sandbox" })).isSandbox).toBe(true);
  expect((await resolve({}, {}, store({}, "sandbox"))).isSandbox).toBe(true);
  expect((await resolve({}, given, store({}, "sandbox"))).baseUrl.value).toBe(other);
});

it("the account is remembered apart from every other, and without its key", async () => {
  const all = await Promise.all([
    resolve({}, {}),
    resolve({ profile: "home" }, {}),
    resolve({ profile: "sandbox" }, {}),
    resolve({}, given),
    resolve({}, { ...given, ECM_API_KEY: "l" }),
  ]);
  expect(new Set(all.map((each) => each.identity)).size).toBe(all.length);
  for (const { identity } of all) expect(identity).toMatch(/^[0-9a-f]{24}$/);
});

const withKey = (profile: Profile) =>
  resolve({}, {}, store({ p: { ...work, apiKey: undefined, ...profile } }, "p"));
const readKey = async (profile: Profile) => (await withKey(profile)).key();

it("the key comes from the first line that the key command prints, and the command runs once", async () => {
  const resolved = await withKey({ apiKeyCommand: "echo key-$RANDOM-$$; echo second line" });
  const first = await resolved.key();
  expect(first.value).toMatch(/^key-/);
  expect(await resolved.key()).toEqual(first);
});

it("the key is missing when its command fails, and neither it nor its output is repeated", async () => {
  const failure = await readKey({ apiKeyCommand: "echo half-a-key; exit 3" }).catch((error) => error);
  expect(failure).toMatchObject({ exitCode: 4, message: expect.stringContaining("exit code 3") });
  expect(failure.message + formatHint(failure.details.hint)).not.toMatch(/half-a-key|exit 3/);
});

const odd = ["two words", "tab\there", "new\nline", "schl\u00fcssel", "\u001b[31m", "x".repeat(501)];
it.each(odd)("the key %j is refused before anything is sent, and is not repeated", async (apiKey) => {
  const error = await readKey({ apiKey }).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ kind: "usage" });
  expect((error as EcmError).message).not.toContain(apiKey);
});

it("the key is not read from what is piped to the command itself, and is missing in a profile that has none", async () => {
  await expect(readKey({ apiKeyCommand: "cat" })).rejects.toThrow("printed nothing");
  await expect(readKey({})).rejects.toMatchObject({ exitCode: 4 });
});
