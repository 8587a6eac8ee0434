/** The floor of `bench/sandbox.mjs`: bare hono routes with the sandbox's check of a body, and no database. */
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { check } from "../src/sandbox/rules/endpoint.ts";
import { createContact } from "../src/sandbox/rules/requests.ts";

const bare = new Hono();
bare.post("/api/contact", async (context) =>
  context.json({ ...check(createContact, await context.req.json()), _id: "6b0133c7a7f4ce0e8d000004" }),
);
bare.get("/api/contact/:id", (context) => context.json({ _id: context.req.param("id"), key: "a@b.co" }));
const server = createAdaptorServer({ fetch: bare.fetch }).listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
});
