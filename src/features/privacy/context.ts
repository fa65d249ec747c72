/** The ports that reading and erasing a user's data needs: those of all features that keep some. */
import type { EventLogContext } from "../events/queries.ts";
import type { FileContext } from "../files/context.ts";
import type { UserContext } from "../users/context.ts";

export interface PrivacyContext extends UserContext, FileContext, EventLogContext {}
