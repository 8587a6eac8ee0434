/** The environment of every test, whatever the shell or the CI system that runs them has set. */
import { configureGlobal } from "fast-check";

const forgotten =
  /^(ECM_(?!CORPORA$).*|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|ACCESSIBLE|LC_.*|HTTPS?_PROXY|NO_PROXY)$/i;
for (const name of Object.keys(process.env)) if (forgotten.test(name)) delete process.env[name];
process.env.TERM = "xterm-256color";
process.env.TZ = "UTC";
process.env.LANG = "C.UTF-8";

// Everybody tries the same cases: what fails here fails there too. A night may try others: `PROPERTY_SEED=random`.
const { PROPERTY_SEED: seed = "1" } = process.env;
if (seed !== "random") configureGlobal({ seed: Number(seed) });
