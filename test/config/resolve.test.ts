import { describe, expect, it } from "vitest";
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

describe("the account that a command works with", () => {
  it.each<[string, GlobalFlags, Record<string, string>, string, string, string | undefined]>([
    ["the current profile", {}, {}, "https://work.example.com", "key-of-work", "default"],
    ["ECM_PROFILE", {}, { ECM_PROFILE: "home" }, "https://home.example.com", "key-of-home", "environment"],
    ["--profile", { profile: "home" }, {}, "https://home.example.com", "key-of-home", "flag"],
    [
      "--profile before ECM_PROFILE",
      { profile: "work" },
      { ECM_PROFILE: "home" },
      "https://work.example.com",
      "key-of-work",
      "flag",
    ],
    [
      "ECM_API_KEY before the profile's",
      {},
      { ECM_API_KEY: "k" },
      "https://work.example.com",
      "k",
      "default",
    ],
    [
      "both from the environment, without a profile",
      {},
      { ECM_API_KEY: "k", ECM_BASE_URL: other },
      other,
      "k",
      undefined,
    ],
    [
      "--base-url before ECM_BASE_URL",
      { baseUrl: other },
      { ECM_API_KEY: "k", ECM_BASE_URL: "https://x.example.com" },
      other,
      "k",
      undefined,
    ],
    [
      "address and key before a named profile's",
      { profile: "home" },
      { ECM_API_KEY: "k", ECM_BASE_URL: other },
      other,
      "k",
      "flag",
    ],
    [
      "an address for a profile that is named too",
      { profile: "home" },
      { ECM_BASE_URL: other },
      other,
      "key-of-home",
      "flag",
    ],
    [
      "another path on the profile's own server",
      {},
      { ECM_BASE_URL: "https://work.example.com/v2" },
      "https://work.example.com/v2",
      "key-of-work",
      "default",
    ],
    [
      "an empty variable as none",
      {},
      { ECM_PROFILE: "", ECM_BASE_URL: "", ECM_API_KEY: "" },
      "https://work.example.com",
      "key-of-work",
      "default",
    ],
  ])("is chosen by: %s", async (_name, flags, env, baseUrl, key, source) => {
    const resolved = await resolve(flags, env);
    expect(resolved.baseUrl.value).toBe(baseUrl);
    expect((await resolved.key()).value).toBe(key);
    expect(resolved.name?.source).toBe(source);
    expect(resolved.isSandbox).toBe(false);
  });

  it("says where address, key and structure come from", async () => {
    const plain = await resolve({}, {});
    expect([plain.baseUrl.source, (await plain.key()).source, plain.structure]).toEqual([
      "profile",
      "profile",
      { value: "Work", source: "profile" },
    ]);
    const mixed = await resolve(
      { baseUrl: other },
      { ECM_API_KEY: "k", ECM_STRUCTURE: "S", ECM_PROFILE: "work" },
    );
    expect([mixed.baseUrl.source, (await mixed.key()).source, mixed.structure]).toEqual([
      "flag",
      "environment",
      { value: "S", source: "environment" },
    ]);
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

  it("refuses an address that is not safe, wherever it stands", async () => {
    await expect(resolve({ baseUrl: "http://other.example.com" }, { ECM_API_KEY: "k" })).rejects.toThrow(
      "--base-url",
    );
    await expect(resolve({}, { ECM_API_KEY: "k", ECM_BASE_URL: "ftp://x" })).rejects.toThrow("ECM_BASE_URL");
    const stored = store({ work: { ...work, baseUrl: "http://other.example.com" } }, "work");
    await expect(resolve({}, {}, stored)).rejects.toThrow("profile work");
  });

  it("goes without encryption to the one host that ECM_INSECURE_HTTP names, and says so", async () => {
    const env = { ECM_BASE_URL: "http://sandbox:8080", ECM_API_KEY: "key" };
    await expect(resolve({}, env)).rejects.toThrow(expect.objectContaining({ kind: "usage" }));
    const { baseUrl, warning } = await resolve({}, { ...env, ECM_INSECURE_HTTP: "sandbox:8080" });
    expect(baseUrl.value).toBe("http://sandbox:8080");
    expect(warning).toBe(
      "ECM_INSECURE_HTTP is set: the API key goes to http://sandbox:8080 without encryption",
    );
  });

  it("carries the profile's wish to be read only", async () => {
    expect((await resolve({ profile: "home" }, {})).readOnly).toBe(true);
    expect((await resolve({}, {})).readOnly).toBe(false);
    expect((await resolve({}, { ECM_READ_ONLY: "1" })).readOnly).toBe(true);
  });

  it("asks for no profiles when address and key are both given", async () => {
    const env = { ECM_API_KEY: "k", ECM_BASE_URL: other };
    const resolved = await resolveProfile(
      readSettings({}, env),
      () => Promise.reject(new Error("opened")),
      env,
    );
    expect(resolved.name).toBeUndefined();
  });

  it("is unknown without any profile, and both ways on are named", async () => {
    const error = await resolve({}, {}, store({})).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ kind: "no key" });
    expect(error).toMatchObject({ exitCode: 4 });
    expect(formatHint((error as EcmError).details.hint!)).toMatch(/ecm auth login[\s\S]*--profile sandbox/);
  });

  it("is refused when the named profile does not exist, or only a key is given", async () => {
    await expect(resolve({ profile: "nobody" }, {})).rejects.toMatchObject({
      type: "UnknownProfileError",
      exitCode: 2,
    });
    await expect(resolve({}, { ECM_API_KEY: "k" }, store({}))).rejects.toMatchObject({ exitCode: 2 });
  });

  it("is the embedded service for sandbox, whatever the environment holds", async () => {
    const env = { ECM_BASE_URL: other, ECM_API_KEY: "k" };
    expect((await resolve({ profile: "sandbox" }, env)).isSandbox).toBe(true);
    expect((await resolve({}, { ...env, ECM_PROFILE: "sandbox" })).isSandbox).toBe(true);
    await expect(resolve({ profile: "sandbox", baseUrl: other }, {})).rejects.toThrow(
      expect.objectContaining({ kind: "usage" }),
    );
  });

  it("leaves a current sandbox only for an address and a key together", async () => {
    const current = store({}, "sandbox");
    expect((await resolve({}, {}, current)).isSandbox).toBe(true);
    await expect(resolve({}, { ECM_BASE_URL: other }, current)).rejects.toThrow(
      expect.objectContaining({ kind: "no key" }),
    );
    const env = { ECM_BASE_URL: other, ECM_API_KEY: "k" };
    expect((await resolve({}, env, current)).baseUrl.value).toBe(other);
  });

  it("is remembered apart from every other, and without its key", async () => {
    const env = { ECM_API_KEY: "k", ECM_BASE_URL: other };
    const all = await Promise.all([
      resolve({}, {}),
      resolve({ profile: "home" }, {}),
      resolve({ profile: "sandbox" }, {}),
      resolve({}, env),
      resolve({}, { ...env, ECM_API_KEY: "l" }),
    ]);
    expect(new Set(all.map((each) => each.identity)).size).toBe(all.length);
    for (const { identity } of all) expect(identity).toMatch(/^[0-9a-f]{24}$/);
  });
});

describe("the key", () => {
  const withKey = (profile: Profile) =>
    resolve({}, {}, store({ p: { ...work, apiKey: undefined, ...profile } }, "p"));
  const readKey = async (profile: Profile) => (await withKey(profile)).key();

  it("comes from the first line that the key command prints, and the command runs once", async () => {
    const resolved = await withKey({ apiKeyCommand: "echo key-$RANDOM-$$; echo second line" });
    const first = await resolved.key();
    expect(first.value).toMatch(/^key-/);
    expect(await resolved.key()).toEqual(first);
  });

  it("is missing when its command fails, and neither it nor its output is repeated", async () => {
    const failure = await readKey({ apiKeyCommand: "echo half-a-key; exit 3" }).catch((error) => error);
    expect(failure).toMatchObject({ exitCode: 4, message: expect.stringContaining("exit code 3") });
    expect(failure.message + formatHint(failure.details.hint)).not.toMatch(/half-a-key|exit 3/);
  });

  it.each(["two words", "tab\there", "new\nline", "schl\u00fcssel", "\u001b[31m", "x".repeat(501)])(
    "%j is refused before anything is sent, and is not repeated",
    async (apiKey) => {
      const error = await readKey({ apiKey }).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ kind: "usage" });
      expect((error as EcmError).message).not.toContain(apiKey);
    },
  );

  it("is not read from what is piped to the command itself", async () => {
    await expect(readKey({ apiKeyCommand: "cat" })).rejects.toThrow("printed nothing");
  });

  it("is missing in a profile that has none", async () => {
    await expect(readKey({})).rejects.toMatchObject({ exitCode: 4 });
  });
});
