/** Passkeys on the wire. */
import type { Passkey } from "@atrium/contract/rest/passkeys.ts";
import { presentNullableTime, presentTime } from "@atrium/contract/time.ts";
import type { PasskeyRow } from "./store.ts";

export const presentPasskey = ({ id, name, createdAt, lastUsedAt }: PasskeyRow): Passkey => ({
  id,
  name,
  created_at: presentTime(createdAt),
  last_used_at: presentNullableTime(lastUsedAt),
});
