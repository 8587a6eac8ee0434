/**
 * An account for each story: a world of one sandbox, behind a port that sees every request and can disturb one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSandbox, type Sandbox } from "../../../src/sandbox/index.ts";
import type { SeedData } from "../../../src/sandbox/public-types.ts";
import type { World } from "../../../src/sandbox/worlds.ts";
import { type Ecm, ecmWith, temporaryFolder } from "../../support/ecm.ts";
import { errorBody, type HttpServer, json, startHttpServer } from "../../support/http-server.ts";

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

export interface Sent {
  method: string;
  path: string;
  body: string;
  /** 0: it was never carried out. */
  status: number;
}

/** Real time, with pauses that are over at once. */
class StoryClock {
  private passed = 0;

  restart(): void {
    this.passed = 0;
  }

  now(): number {
    return Date.now() + this.passed;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.passed += milliseconds;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The sandbox and the port that all stories of a test share. */
export class StoryService {
  private readonly sandbox: Sandbox;
  readonly clock;
  private server!: HttpServer;
  private account: StoryAccount | undefined;

  private constructor(sandbox: Sandbox, clock: StoryClock) {
    this.sandbox = sandbox;
    this.clock = clock;
  }

  static async start(): Promise<StoryService> {
    const clock = new StoryClock();
    const folder = join(await temporaryFolder(), "sandbox");
    const limits = { hourlyLimit: 1_000_000_000, monthlyLimit: 1_000_000_000 };
    const sandbox = await openSandbox({ folder, clock, ...limits });
    onTestFinished(() => sandbox.close());
    const service = new StoryService(sandbox, clock);
    service.server = await startHttpServer((request, response) => {
      service.server.requests.length = 0;
      void service.account!.answer(request, response);
    });
    return service;
  }

  /** Opens an account; the one before is closed. */
  async open(variants: Record<string, string>, contents: SeedData): Promise<StoryAccount> {
    this.clock.restart();
    const world = await this.sandbox.worlds.create({ variants });
    world.admin.seed(contents);
    const folder = await mkdtemp(join(tmpdir(), "ecm-story-"));
    const { clock, sandbox } = this;
    this.account = new StoryAccount({
      variants,
      world,
      sandbox,
      folder,
      clock,
      baseUrl: this.server.baseUrl,
    });
    return this.account;
  }

  async close({ world, folder }: StoryAccount): Promise<void> {
    this.sandbox.worlds.close(world.id);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Parts {
  variants: Record<string, string>;
  world: World;
  sandbox: Sandbox;
  folder: string;
  clock: StoryClock;
  baseUrl: string;
}

export class StoryAccount {
  readonly variants: Record<string, string>;
  readonly world: World;
  /** For the files of the story; the homes of `ecm` are in it. */
  readonly folder: string;
  private readonly sandbox: Sandbox;
  private readonly clock;
  private readonly ecm: Ecm;
  /** What the command under way has sent. */
  sent: Sent[] = [];
  private arrived = 0;
  private disturbance: Disturbance | undefined;
  private interrupt = new AbortController();
  private actOfOthers = async () => {};

  constructor({ variants, world, sandbox, folder, clock, baseUrl }: Parts) {
    this.variants = variants;
    this.world = world;
    this.sandbox = sandbox;
    this.folder = folder;
    this.clock = clock;
    this.ecm = ecmWith({
      ECM_CONFIG_DIR: join(folder, "config"),
      ECM_STATE_DIR: join(folder, "state"),
      ECM_CACHE_DIR: join(folder, "cache"),
      ECM_BASE_URL: baseUrl,
      ECM_API_KEY: world.apiKey,
    });
  }

  /** Time goes by, in milliseconds. */
  pass(milliseconds: number): Promise<void> {
    return this.clock.sleep(milliseconds);
  }

  /** Runs `ecm`. @param disturbance what goes wrong meanwhile; `others` stands for `act` */
  async run(args: string[], disturbance?: Disturbance, act = async () => {}) {
    this.sent = [];
    this.arrived = 0;
    this.disturbance = disturbance;
    this.interrupt = new AbortController();
    this.actOfOthers = act;
    const result = await this.ecm(args, { clock: this.clock, signal: this.interrupt.signal });
    this.disturbance = undefined;
    return { ...result, sent: this.sent };
  }

  async answer(
    request: { method: string; url: string; headers: object; body: string },
    response: Parameters<typeof json>[0],
  ): Promise<void> {
    this.arrived++;
    // The service's time, by which a run tells its own contacts from older ones.
    response.setHeader("date", new Date(this.clock.now()).toUTCString());
    const how = this.arrived === this.disturbance?.at ? this.disturbance.how : undefined;
    const sent: Sent = { method: request.method, path: request.url, body: request.body, status: 0 };
    this.sent.push(sent);
    if (how === "signal") this.interrupt.abort();
    if (how === "others") await this.actOfOthers();
    if (how === "drop-before") {
      response.socket?.destroy();
    } else if (how === "503") {
      json(response, 503, errorBody("ServiceUnavailable", "Try again"));
    } else if (how === "429") {
      const error = errorBody("TooManyRequestsError", "Rate limit exceeded. Retry after 1 seconds.");
      json(response, 429, error, { "retry-after": "1" });
    } else {
      const { status, text, headers } = await this.sandbox.transport({
        method: request.method,
        url: `http://sandbox.localhost${request.url}`,
        headers: { "x-api-key": this.world.apiKey, "content-type": "application/json" },
        body: request.body === "" ? undefined : request.body,
        timeoutMilliseconds: 30_000,
      });
      sent.status = status;
      if (how === "drop-after") response.socket?.destroy();
      else if (how === "500-after") json(response, 500, errorBody("InternalServerError", "It failed"));
      else if (how === "cut-answer" && text.length > 1) {
        response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
        response.write(text.slice(0, text.length / 2), () => response.socket?.destroy());
      } else response.writeHead(status, headers).end(text);
    }
  }

  /** What the account holds, read beside the API. */
  people(): People {
    const { structures, lists, contacts } = this.world.store;
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

  /** A request of somebody else's. */
  async others(method: string, path: string, body?: object): Promise<void> {
    await this.sandbox.transport({
      method,
      url: `http://sandbox.localhost${path}`,
      headers: { "x-api-key": this.world.apiKey, "content-type": "application/json" },
      body: body && JSON.stringify(body),
      timeoutMilliseconds: 30_000,
    });
  }
}
