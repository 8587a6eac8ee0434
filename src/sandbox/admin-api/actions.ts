/**
 * The table of what /__sandbox/ answers. Requests are routed by it, and the
 * description is made of it.
 */

import type { SandboxAdmin } from "../admin.ts";
import type { EventBody, RequestQuery } from "../public-types.ts";
import { findServerUrl, limitBody, readMessage, toAnswer, toResponse } from "../request.ts";
import { invalid } from "../rules/refusal.ts";
import * as answers from "./answers.ts";
import * as bodies from "./bodies.ts";
import { invalidAt } from "./bodies.ts";
import { eventBody } from "./events.ts";
import { eventStream } from "./follow.ts";
import type { AdminAction, AdminContext, AdminPlace, WorldAdmin, WorldView } from "./place.ts";

export function listActions(admin: SandboxAdmin, place: AdminPlace): AdminAction[] {
  const actions = [
    ...readActions(admin, place),
    ...contentActions(admin),
    ...behaviorActions(admin),
    ...worldActions(place.worlds),
  ];
  actions.push({
    id: "describeSandbox",
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    result: answers.descriptionAnswer,
    async act({ req }) {
      const { describeAdmin } = await import("./openapi.ts");
      return describeAdmin(actions, place, req.header("host"));
    },
  });
  return actions;
}

function readActions(admin: SandboxAdmin, place: AdminPlace): AdminAction[] {
  return [
    {
      id: "getHealth",
      method: "GET",
      path: "/health",
      summary: "Whether the sandbox answers, its version and its time",
      result: answers.healthAnswer,
      act: () => admin.health(),
    },
    {
      id: "getOverview",
      method: "GET",
      path: "/overview",
      summary: "What the page shows, but for the requests",
      result: answers.overviewAnswer,
      act: () => describeAll(admin),
    },
    {
      id: "listRequests",
      method: "GET",
      path: "/requests",
      summary: "The requests that the service answered, oldest first; the header X-Sandbox-Log names the log",
      query: bodies.requestsQuery,
      result: answers.loggedRequests,
      act: (context) => answerRequests(admin, context),
    },
    {
      id: "followRequests",
      method: "GET",
      path: "/requests/stream",
      summary: "The same as server-sent events, without an end",
      query: bodies.requestsQuery,
      contentType: "text/event-stream",
      act: (context) => streamRequests(admin, context, place.closing),
    },
    {
      id: "clearRequests",
      method: "DELETE",
      path: "/requests",
      summary: "Empty the log; numbers go on",
      act: () => admin.clearRequests(),
    },
  ];
}

function contentActions(admin: SandboxAdmin): AdminAction[] {
  const name = (context: AdminContext) => context.req.param("name") ?? "";
  return [
    {
      id: "resetAccount",
      method: "POST",
      path: "/reset",
      summary: "Empty the account and the log",
      body: bodies.resetBody,
      result: answers.resetAnswer,
      act: async (context) => admin.reset(await readJson(context)),
    },
    {
      id: "seedAccount",
      method: "POST",
      path: "/seed",
      summary: "Fill the account, by names: all of it, or nothing",
      body: bodies.seedBody,
      result: answers.seedAnswer,
      act: async (context) => admin.seed(await readJson(context)),
    },
    {
      id: "createEvent",
      method: "POST",
      path: "/events",
      summary: "Something happens to a contact",
      body: eventBody,
      result: answers.eventAnswer,
      act: async (context) => admin.event(await readJson<EventBody>(context)),
    },
    {
      id: "listSnapshots",
      method: "GET",
      path: "/snapshots",
      summary: "The saved snapshots, by name",
      result: answers.snapshotsAnswer,
      act: () => admin.snapshots(),
    },
    {
      id: "saveSnapshot",
      method: "PUT",
      path: "/snapshots/:name",
      summary: "Save the account under a name",
      result: answers.snapshotAnswer,
      act: (context) => admin.saveSnapshot(name(context)),
    },
    {
      id: "loadSnapshot",
      method: "POST",
      path: "/snapshots/:name/load",
      summary: "Restore the account from a snapshot",
      result: answers.snapshotAnswer,
      act: (context) => admin.loadSnapshot(name(context)),
    },
    {
      id: "removeSnapshot",
      method: "DELETE",
      path: "/snapshots/:name",
      summary: "Remove a snapshot",
      act: (context) => admin.removeSnapshot(name(context)),
    },
  ];
}

function behaviorActions(admin: SandboxAdmin): AdminAction[] {
  return [
    {
      id: "getClock",
      method: "GET",
      path: "/clock",
      summary: "The service's time",
      result: answers.clockAnswer,
      act: () => admin.clock(),
    },
    {
      id: "setClock",
      method: "PUT",
      path: "/clock",
      summary: "Set, advance or release the service's time",
      body: bodies.clockBody,
      result: answers.clockAnswer,
      act: async (context) => admin.clock(await readJson(context)),
    },
    {
      id: "getFaults",
      method: "GET",
      path: "/faults",
      summary: "The faults that are simulated",
      result: answers.faultsAnswer,
      act: () => admin.faults(),
    },
    {
      id: "setFaults",
      method: "PUT",
      path: "/faults",
      summary: "Simulate these faults, and no others",
      body: bodies.faultsBody,
      result: answers.faultsAnswer,
      act: async (context) => admin.faults(readFaultSpecs(await readJson(context))),
    },
    {
      id: "removeFaults",
      method: "DELETE",
      path: "/faults",
      summary: "Simulate no faults",
      act: () => void admin.faults([]),
    },
    {
      id: "getLimits",
      method: "GET",
      path: "/limits",
      summary: "The limits and what is used of them",
      result: answers.limitsAnswer,
      act: () => admin.limits(),
    },
    {
      id: "setLimits",
      method: "PUT",
      path: "/limits",
      summary: "Change the limits, or what counts as used",
      body: bodies.limitsBody,
      result: answers.limitsAnswer,
      act: async (context) => admin.limits(await readJson(context)),
    },
  ];
}

/** A world opens no further worlds. */
function worldActions(worlds: WorldAdmin | undefined): AdminAction[] {
  if (!worlds) return [];
  return [
    {
      id: "listWorlds",
      method: "GET",
      path: "/worlds",
      summary: "The open worlds",
      result: answers.worldsAnswer,
      act: (context) => worlds.list().map((world) => describeWorld(world, context)),
    },
    {
      id: "openWorld",
      method: "POST",
      path: "/worlds",
      summary: "Open a further account that shares nothing with others",
      body: bodies.worldBody,
      result: answers.worldAnswer,
      act: async (context) => describeWorld(await worlds.create(await readJson(context)), context),
    },
    {
      id: "closeWorld",
      method: "DELETE",
      path: "/worlds/:id",
      summary: "Close a world",
      act: (context) => worlds.close(context.req.param("id") ?? ""),
    },
    {
      id: "closeWorlds",
      method: "DELETE",
      path: "/worlds",
      summary: "Close all worlds",
      act: () => worlds.closeAll(),
    },
  ];
}

function describeWorld({ id, root, apiKey, structureId }: WorldView, context: AdminContext): object {
  return { id, baseUrl: findServerUrl(context.req.header("host"), root), apiKey, structureId };
}

/** What the page shows, but for the requests. */
function describeAll(admin: SandboxAdmin): object {
  const { version } = admin.health();
  return { version, clock: admin.clock(), limits: admin.limits(), account: admin.overview() };
}

function answerRequests(admin: SandboxAdmin, context: AdminContext): Response {
  const headers = { "X-Sandbox-Log": admin.logId() };
  const body = admin.requests(readQuery(context));
  return toResponse(toAnswer({ status: 200, body, headers }));
}

function streamRequests(admin: SandboxAdmin, context: AdminContext, closed: AbortSignal): Response {
  const follower = admin.followRequests(readQuery(context), context.req.header("last-event-id"));
  const { closing } = context.env;
  return eventStream((limit) => follower.next(limit), closing ? AbortSignal.any([closing, closed]) : closed);
}

// A seed of many thousand contacts comes as one body.
const maxBodyBytes = 64 * 2 ** 20;

/** The body as JSON, whatever its Content-Type; an empty body counts as an empty object. */
async function readJson<T = object>(context: AdminContext): Promise<T> {
  const { incoming } = context.env;
  const body = incoming
    ? await readMessage(incoming, maxBodyBytes)
    : limitBody(new Uint8Array(await context.req.arrayBuffer()), maxBodyBytes);
  if ("tooLarge" in body) throw invalid(`The body must not be larger than ${maxBodyBytes / 2 ** 20} MiB`);
  if ("cut" in body) throw invalid("The body ended too early");
  if (body.bytes.length === 0) return {} as T;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body.bytes));
  } catch {
    throw invalid("The body is not JSON");
  }
  if (typeof value !== "object" || value === null) throw invalid("The body must be an object");
  return value as T;
}

function readFaultSpecs(body: object): string[] {
  const { faults, ...others } = body as { faults?: string[] };
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalidAt(other, "is not known here");
  if (!Array.isArray(faults)) throw invalidAt("faults", "must be an array");
  return faults;
}

function readQuery(context: AdminContext): RequestQuery {
  const entries = Object.entries(context.req.queries());
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}
