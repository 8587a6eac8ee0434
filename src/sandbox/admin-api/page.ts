/** The page at /__sandbox/: one file without any other asset, and no markup but its own. */
import { createHash } from "node:crypto";
import html from "./page.html?raw";

/**
 * The page, with a policy under which nothing runs but its one script, and nothing is sent anywhere but here.
 */
export function pageResponse(): Response {
  const policy = [
    "default-src 'none'",
    `script-src '${sourceHash("script")}'`,
    `style-src '${sourceHash("style")}'`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
      "Referrer-Policy": "no-referrer",
    },
  });
}

function sourceHash(element: string): string {
  const [, content = ""] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html) ?? [];
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}
