/** Every endpoint of the service, in one list: the routes and the description are made of it. */
import { campaignEndpoints } from "./campaigns.ts";
import { contactEndpoints } from "./contacts.ts";
import type { Endpoint } from "./endpoint.ts";
import { eventEndpoints } from "./events.ts";
import { listEndpoints } from "./lists.ts";
import { reportEndpoints } from "./reports.ts";
import { searchEndpoints } from "./search.ts";
import { structureEndpoints } from "./structures.ts";

export const endpoints: Endpoint[] = [
  ...structureEndpoints,
  ...listEndpoints,
  ...searchEndpoints,
  ...contactEndpoints,
  ...eventEndpoints,
  ...campaignEndpoints,
  ...reportEndpoints,
];
