/** An account for each story: a world of one sandbox, behind a port that sees and can disturb requests. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSandbox } from "../../../src/sandbox/index.ts";
import type { SeedData } from "../../../src/sandbox/public-types.ts";
import type { World } from "../../../src/sandbox/worlds.ts";
import { type Answerer, ecmWith, errorBody, json, startHttpServer, temporaryFolder } from "../../kit.ts";
import { fastClock, lose } from "../recording-proxy.ts";

/** A contact as a reader of names sees it. */
export interface Person {
  id: string;
  key: string;
  /** `Active`, or why they are inactive. */
  status: string;
  /** `field City` → its value, `list News` → `yes`, `tag vip` → `yes`; without what is blank. */
  facets: Record<string, string>;
}

/** By key, without regard to letter case. */
export type People = Map<string, Person>;

/** What goes wrong with one request, counted from the start of a command. */
export interface Disturbance {
  how: "drop-before" | "drop-after" | "500-after" | "503" | "429" | "cut-answer" | "signal" | "others";
  at: number;
}

interface Sent {
  method: string;
  path: string;
  body: string;
  /** 0: it was never carried out. */
  status: number;
}

/** The sandbox and the port that all stories of a test share; each story has a world of its own. */
export async function startStories() {
  const clock = fastClock();
  const limits = { hourlyLimit: 1_000_000_000, monthlyLimit: 1_000_000_000 };
  const sandbox = await openSandbox({ folder: join(await temporaryFolder(), "sandbox"), clock, ...limits });
  onTestFinished(() => sandbox.close());
  let answer: Answerer = () => undefined;
  const server = await startHttpServer((request, response, count) => {
    server.requests.length = 0;
    answer(request, response, count);
  });

  /** Opens an account; the one before is closed. */
  const open = async (variants: Record<string, string>, contents: SeedData) => {
    clock.restart();
    const world = await sandbox.worlds.create({ variants });
    world.admin.seed(contents);
    const folder = await mkdtemp(join(tmpdir(), "ecm-story-"));
    const ecm = ecmWith({
      ECM_CONFIG_DIR: join(folder, "config"),
      ECM_STATE_DIR: join(folder, "state"),
      ECM_CACHE_DIR: join(folder, "cache"),
      ECM_BASE_URL: server.baseUrl,
      ECM_API_KEY: world.apiKey,
    });
    /** A request straight to the service. */
    const ask = (method: string, path: string, body?: string) =>
      sandbox.transport({
        method,
        url: `http://sandbox.localhost${world.root}${path}`,
        headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
        body,
        timeoutMilliseconds: 30_000,
      });
    /** What the command under way has sent, and what goes wrong with it. */
    let sent: Sent[] = [];
    let disturbance: Disturbance | undefined;
    let interrupt = new AbortController();
    let actOfOthers = async () => {};

    const respond = async (...[request, response]: Parameters<Answerer>) => {
      // The service's time, by which a run tells its own contacts from older ones.
      response.setHeader("date", new Date(clock.now()).toUTCString());
      const { method, url: path, body } = request;
      const record: Sent = { method, path, body, status: 0 };
      sent.push(record);
      const how = sent.length === disturbance?.at ? disturbance.how : undefined;
      if (how === "signal") interrupt.abort();
      if (how === "others") await actOfOthers();
      if (how === "drop-before") response.socket?.destroy();
      else if (how === "503") json(response, 503, errorBody("ServiceUnavailable", "Try again"));
      else if (how === "429") {
        const error = errorBody("TooManyRequestsError", "Rate limit exceeded. Retry after 1 seconds.");
        json(response, 429, error, { "retry-after": "1" });
      } else {
        const { status, text, headers } = await ask(method, path, body === "" ? undefined : body);
        record.status = status;
        const losses = { "drop-after": "drop", "500-after": "500", "cut-answer": "cut" } as const;
        lose(response, { status, text, headers }, losses[how as keyof typeof losses]);
      }
    };
    answer = (...exchange) => void respond(...exchange);

    return {
      variants,
      world,
      /** For the files of the story; the homes of `ecm` are in it. */
      folder,
      /** Time goes by, in milliseconds. */
      pass: (milliseconds: number) => clock.sleep(milliseconds),
      /** Runs `ecm`. @param how what goes wrong meanwhile; `others` stands for `act` */
      async run(args: string[], how?: Disturbance, act = async () => {}) {
        sent = [];
        disturbance = how;
        interrupt = new AbortController();
        actOfOthers = act;
        const result = await ecm(args, { clock, signal: interrupt.signal });
        disturbance = undefined;
        return { ...result, sent };
      },
      people: () => readPeople(world.store),
      /** A request of somebody else's. */
      async others(method: string, path: string, body?: object): Promise<void> {
        await ask(method, path, body && JSON.stringify(body));
      },
      async close(): Promise<void> {
        sandbox.worlds.close(world.id);
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
  return { open };
}

export type Stories = Awaited<ReturnType<typeof startStories>>;
export type StoryAccount = Awaited<ReturnType<Stories["open"]>>;

/** What the account holds, read beside the API. */
export function readPeople({ structures, lists, contacts }: World["store"]): People {
  const [structure] = structures.all();
  const names = new Map([
    ...structure!.fields.map(({ _id, label }) => [_id, `field ${label}`] as const),
    ...structure!.tags.map(({ _id, label }) => [_id, `tag ${label}`] as const),
    ...lists.all(structure!._id).map(({ _id, name }) => [_id, `list ${name}`] as const),
  ]);
  const name = (id: string) => names.get(id) ?? `gone ${id}`;
  return new Map(
    Array.from(contacts.all(), ({ id, key, status, fields, lists: listIds, tags }) => {
      const facets = [
        ...fields.map(({ _id, value }) => [name(_id), value]),
        ...[...listIds, ...tags].map((each) => [name(each), "yes"]),
      ].filter(([, value]) => value !== "");
      const isActive = status.primary.toLowerCase() === "active";
      return [
        key.toLowerCase(),
        {
          id,
          key,
          status: isActive ? "Active" : (status.secondary ?? status.primary),
          facets: Object.fromEntries(facets.sort(([a = ""], [b = ""]) => (a < b ? -1 : 1))),
        },
      ];
    }),
  );
}
