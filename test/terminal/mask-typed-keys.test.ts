import { describe, expect, it } from "vitest";
import { maskTypedKeys } from "../../src/terminal/escape.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";

const key = `ecm_us_${"Ab1-".repeat(10)}xyz`;

describe("a key that was typed where no flag takes one", () => {
  it.each([
    [["contact", "search", `--api-key=${key}`]],
    [["contact", "search", "--api-key", key]],
    [["contact", "get", "--apikey", key]],
    [[key]],
    [["auth", "login", key]],
    [["contact", key]],
    [["import", "--token=hunter2hunter2"]],
    [[`--${key}`]],
    [["lists", "list", `--${key}`]],
    [["lists", "list", `-k${key}`]],
    [["lists", "list", `-p${key}`]],
    [["lists", "list", `--profile= ${key} `]],
    [[`ECM_API_KEY=${key}`, "lists", "list"]],
    [["lists", `X-API-Key: ${key}`]],
  ])("does not come back in an error: %j", async (words) => {
    for (const format of [[], ["--json"]]) {
      const { code, stdout, stderr } = await ecmWith(await temporaryHome())([...words, ...format]);
      expect(code).not.toBe(0);
      expect(stdout + stderr).not.toContain(key);
      expect(stdout + stderr).not.toContain("hunter2hunter2");
    }
  });

  it("is known by its form or by its flag; other words stay", () => {
    expect(maskTypedKeys(`unknown option '--api-key=${key}'`, [`--api-key=${key}`])).toBe(
      "unknown option '--api-key=ecm_us_…-xyz'",
    );
    expect(maskTypedKeys("no contact has the key ada@example.com", ["--key", "ada@example.com"])).toContain(
      "ada@",
    );
  });
});
