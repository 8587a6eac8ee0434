/** undici's agent alone: the whole package takes more than twice as long to load. */
declare module "undici/lib/dispatcher/agent.js" {
  const Agent: typeof import("undici").Agent;
  export = Agent;
}
