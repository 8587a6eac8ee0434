/** A report in a real browser, light, dark and on paper; skipped where there is none. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { inputFile, startSandbox, temporaryFolder } from "../kit.ts";
import { describeInBrowser, expectContrasts } from "../support/browser.ts";

/** Short enough to be shown whole. */
const hostile = "</td><script>alert(1)</script><img src=x onerror=alert(2)>";

describeInBrowser("a report", (open) => {
  async function opened(colorScheme: "light" | "dark") {
    const { ecm } = await startSandbox();
    const rows = Array.from({ length: 40 }, (_, at) => `p${at}@example.com,Person ${at},yes\n`).join("");
    const quoted = `"${hostile.replaceAll('"', '""')}"`;
    const odd = `h@example.com,${quoted},yes\n${quoted},Bad,yes\nn@example.com,No,no\n`;
    const file = await inputFile(`Email,First Name,Opt-in\n${odd}${rows}`);
    const report = join(await temporaryFolder(), "report.html");
    const { stderr } = await ecm(`import ${file} --dry-run --report ${report}`);
    expect(stderr).toContain("Report: ");
    const opened = await open({ colorScheme, viewport: { width: 800, height: 600 } });
    const address = pathToFileURL(report).href;
    await opened.page.goto(address);
    return { ...opened, address };
  }

  test.each(["light", "dark"] as const)("is read well in %s, and needs nothing else", async (colorScheme) => {
    const { page, complaints, requested, address } = await opened(colorScheme);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Import: people.csv");
    // What a file holds is shown as it is, and is no part of the page.
    expect(await page.getByText(hostile).count()).toBe(3);
    expect(await page.locator("script, img").count()).toBe(0);
    await expectContrasts(page, 90);
    const isTooWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    for (const width of [800, 360]) {
      await page.setViewportSize({ width, height: 600 });
      expect(await page.evaluate(isTooWide), String(width)).toBe(false);
    }
    expect({ complaints, requested }).toEqual({ complaints: [], requested: [address] });
  });

  test("is printed dark on light, on several pages", async () => {
    const { page } = await opened("dark");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const look = await page.evaluate<Record<string, string>>(`(() => {
      const body = getComputedStyle(document.body);
      return { ink: body.color, ground: body.backgroundColor };
    })()`);
    expect(look).toEqual({ ink: "rgb(0, 0, 0)", ground: "rgb(255, 255, 255)" });
    const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
    expect(pdf.match(/\/Type\s*\/Page\b/g)!.length).toBeGreaterThan(1);
  });
});
