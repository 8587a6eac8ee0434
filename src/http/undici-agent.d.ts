/** undici's agent alone: the whole package takes more than twice as long to load. */
declare module "undici/lib/dispatcher/agent.js" {
  const Agent: typeof import("undici").Agent;
  export = Agent;
}
/** The same for proxies. */
declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  const EnvHttpProxyAgent: typeof import("undici").EnvHttpProxyAgent;
  export = EnvHttpProxyAgent;
}
declare module "undici/lib/dispatcher/dispatcher.js" {
  const Dispatcher: typeof import("undici").Dispatcher;
  export = Dispatcher;
}
declare module "undici/lib/api/api-connect.js" {
  const connect: import("undici").Dispatcher["connect"];
  export = connect;
}
