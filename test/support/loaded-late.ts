/**
 * The modules that the service loads with the first use of them. Its bundle has them all; the test runner fetches each by
 * I/O of the request that asks first, which another request cannot wait for.
 */
import "@atrium/contract/rest/users.ts";
import "@block65/webcrypto-web-push";
import "../../src/features/webhooks/present.ts";
import "../../src/features/webhooks/sample-event.ts";
import "../../src/features/workflows/run-bindings.ts";
import "../../src/features/workflows/schedule.ts";
import "../../src/http/form/form.ts";
import "../../src/room/host/room-engine.ts";
