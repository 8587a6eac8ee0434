/** The page at /__sandbox/ in a real browser; skipped where there is none. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { StartSandboxOptions } from "../../src/sandbox/public-types.ts";
import { describeInBrowser, expectContrasts } from "../support/browser.ts";
import { started } from "./account.ts";

describeInBrowser("the page", (open) => {
  async function opened(options?: StartSandboxOptions, colorScheme: "light" | "dark" = "light") {
    const sandbox = await started(options);
    const { page, complaints, requested } = await open({ colorScheme });
    await page.goto(`${sandbox.baseUrl}/__sandbox/`);
    return { ...sandbox, page, complaints, requested };
  }

  const live = (page: Page) => page.getByRole("status").getByText("Live").waitFor();

  test("shows contacts, lists, requests with their bodies, and what is left, as they change", async () => {
    const { page, admin, call, create, complaints, requested, baseUrl } = await opened();
    await live(page);
    await page.getByText("No requests yet").waitFor();
    await admin.limits({ hourly: 100, used: 0 });
    const ada = { key: "ada@example.com", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] };
    await admin.seed({ contacts: [ada] });
    await create("hana@example.com");
    const contacts = page.getByRole("region", { name: "Contacts" });
    await contacts.getByRole("cell", { name: "hana@example.com" }).waitFor();
    await contacts
      .getByRole("row", { name: "ada@example.com active, confirmed City: Oslo News VIP" })
      .waitFor();
    await page.getByRole("region", { name: "Lists" }).getByRole("row", { name: "News 1" }).waitFor();
    await page.getByText("99 of 100", { exact: true }).waitFor();
    const requests = page.getByRole("region", { name: "Requests" }).getByRole("listitem");
    expect(await requests.count()).toBe(1);
    await requests.getByText("/api/contact").click();
    await requests.getByText('"key": "hana@example.com"').first().waitFor();

    await admin.faults(["503:GET:*"]);
    await call("GET", "/api/contact-structure");
    await requests.getByText("fault: 503").waitFor();
    expect(await requests.first().innerText()).toContain("503");

    await admin.clock({ time: "2030-01-01T00:00:00Z" });
    await call("GET", "/api/contact-structure");
    await page.getByText("set by a test").waitFor();
    expect(complaints).toEqual([]);
    expect(new Set(requested.map((url) => new URL(url).origin))).toEqual(new Set([baseUrl]));
  });

  test("text from the service is text, wherever it stands", async () => {
    const { page, admin, call, create, complaints } = await opened();
    const attack = "<img src=x onerror=alert(1)><script>alert(2)</script>";
    await admin.seed({
      fields: [attack],
      contacts: [{ key: "ada@example.com", fields: { [attack]: attack }, lists: [attack], tags: [attack] }],
    });
    await call("POST", `/api/${encodeURIComponent(attack)}?${attack}`, { key: attack });
    await create(attack);
    await live(page);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await page.getByRole("cell", { name: attack }).first().waitFor();
    expect(await page.locator("img, #content script").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("waits for the sandbox while it is away, and starts over when another one has its port", async () => {
    const { page, call, stop, baseUrl } = await opened();
    await live(page);
    await call("GET", "/api/before");
    await page.getByText("/api/before").waitFor();
    await stop();
    await page.getByText("Not connected; trying again").waitFor();
    const other = await started({ port: Number(new URL(baseUrl).port) });
    await other.call("GET", "/api/after");
    await page.getByText("/api/after").waitFor();
    expect(await page.locator("#requests li").count()).toBe(1);
    await live(page);
  });

  test("everything is reached and opened by keyboard, and has a name", async () => {
    const { page, call } = await opened();
    await live(page);
    await call("GET", "/api/contact-structure");
    await page.locator("summary").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
    await page.keyboard.press("Enter");
    await page.getByText("Headers", { exact: true }).waitFor();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("ecm sandbox");
    expect(await page.getByRole("progressbar", { name: "Left of this hour" }).count()).toBe(1);
    expect(await page.evaluate("document.documentElement.lang")).toBe("en");
  });

  test.each(["light", "dark"] as const)("every text stands out from its ground: %s", async (colorScheme) => {
    const { page, admin, call } = await opened(undefined, colorScheme);
    await live(page);
    await admin.seed({ contacts: [{ key: "ada@example.com", lists: ["News"] }] });
    await call("GET", "/api/contact-structure");
    await call("GET", "/api/nothing");
    await admin.faults(["503:GET:*"]);
    await call("GET", "/api/contact-structure");
    await page.getByText("fault: 503").waitFor();
    await page.locator("summary").first().click();
    await expectContrasts(page, 20);
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(ground === "rgb(255, 255, 255)").toBe(colorScheme === "light");
  });

  test("with a token the page asks for it, and works with the right one", async () => {
    const { page, call } = await opened({ adminToken: "s3cret" });
    await page.getByText("This sandbox asks for its admin token").waitFor();
    await page.getByLabel("Admin token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByText("That is not the token").waitFor();
    await page.getByLabel("Admin token").fill("s3cret");
    await page.getByRole("button").click();
    await live(page);
    await call("GET", "/api/contact-structure");
    await page.locator("summary").waitFor();
  });

  test("a page of another site cannot read or change anything", async () => {
    const { baseUrl, admin } = await opened();
    const other = await opened();
    await admin.seed({ contacts: [{ key: "ada@example.com" }] });
    // The other sandbox's page stands for any page of another origin; its own policy is not what stops it.
    await other.page.goto("about:blank");
    const tried = await other.page.evaluate(async (target) => {
      const answers: string[] = [];
      for (const [path, method] of Object.entries({ requests: "GET", reset: "POST" })) {
        for (const mode of ["cors", "no-cors"] as const) {
          const answer = await fetch(`${target}/__sandbox/${path}`, { method, mode }).catch(() => undefined);
          answers.push(answer === undefined ? "refused" : `${answer.type} ${answer.status}`);
        }
      }
      return answers;
    }, baseUrl);
    for (const each of tried) expect(["refused", "opaque 0"]).toContain(each);
    const { contacts } = await admin.seed({ contacts: [{ key: "ada@example.com" }] });
    expect(contacts).toEqual({ created: 0, updated: 1 });
  });
});
