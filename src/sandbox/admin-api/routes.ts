/** /__sandbox/ over HTTP: JSON in and out, no API key, no limits, and errors in the service's own form. */

import { createHash } from "node:crypto";
import { Hono } from "hono";
import type { SandboxAdmin } from "../admin.ts";
import { failure, refusalAnswer, toAnswer, toResponse } from "../request.ts";
import { notFound, Refusal } from "../rules/refusal.ts";
import { adminRoot, refuseAccess } from "./access.ts";
import { listActions } from "./actions.ts";
import html from "./page.html?raw";
import type { AdminApi, AdminPlace, Bindings } from "./place.ts";

export function adminRoutes(admin: SandboxAdmin, place: AdminPlace): AdminApi {
  const { adminToken } = place;
  const root = `${place.root}${adminRoot}`;
  const routes = new Hono<{ Bindings: Bindings }>().basePath(root);
  routes.use("*", async (context, next) => {
    const { address, incoming } = context.env;
    const { method, path } = context.req;
    const isRead = method === "GET" || method === "HEAD";
    const isPage = isRead && path === `${root}/`;
    // The page holds nothing of the account: it asks for the token itself.
    const isOpen = incoming === undefined || (isPage && adminToken !== undefined);
    const refusal = isOpen ? undefined : refuseAccess(address, incoming.headers, adminToken);
    if (refusal) throw refusal;
    if (isRead && path === root) return context.redirect(`${root}/`);
    if (!isPage) return next();
    return secured(pageResponse());
  });
  for (const { method, path, act } of listActions(admin, place)) {
    routes.on(method, path, async (context) => {
      const result = await act(context);
      if (result instanceof Response) return secured(result);
      const status = result === undefined ? 204 : 200;
      return secured(toResponse(toAnswer({ status, body: result, headers: {} })));
    });
  }
  routes.all("*", ({ req }) => {
    throw notFound(`${req.method} ${req.path}`);
  });
  routes.onError((error) => {
    if (!(error instanceof Refusal)) return toResponse(failure(error));
    const headers = error.status === 401 ? { "WWW-Authenticate": 'Bearer realm="ecm sandbox"' } : undefined;
    return secured(toResponse(refusalAnswer(error, headers)));
  });
  return async (request, bindings) => routes.fetch(request, bindings);
}

/** Adds the headers that keep other sites from using the answer, and browsers from storing it. */
function secured(response: Response): Response {
  response.headers.set("Cache-Control", "no-store");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

/**
 * The page: one file without any other asset, and no markup but its own. Under its policy nothing runs but
 * its one script, and nothing is sent anywhere but here.
 */
function pageResponse(): Response {
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
