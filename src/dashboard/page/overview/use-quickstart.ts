/** What the samples are filled in with: a room, a test user and an API key, created when the person asks for them. */
import type { AtriumServer } from "atrium/server";
import { useState } from "react";
import { findOrCreateUser } from "../data/find-user.ts";
import { useCurrent, useKey } from "../data/organization.tsx";
import { useAction } from "../data/use-action.ts";
import type { QuickstartKeys } from "./snippets.ts";

/** By it the test user is found again. */
const CUSTOM_ID = "quickstart";
/** As long as members may have tokens made. */
const TOKEN_SECONDS = 60 * 60;

export type QuickstartActions = ReturnType<typeof useQuickstart>;

export function useQuickstart() {
  const { atrium, organization } = useCurrent();
  const key = useKey();
  const [keys, setKeys] = useState<QuickstartKeys>({
    ...{ serverUrl: location.origin, accountId: organization.id },
    ...{ roomId: null, userId: null, token: null, apiKey: null },
  });
  const invalidates = [key("overview"), key("rooms"), key("keys")];
  const fillToken = useAction(
    async () => {
      const user = await findTestUser(atrium);
      setKeys((known) => ({ ...known, ...user }));
    },
    { invalidates, isForm: true },
  );
  const fillKey = useAction(
    async () => {
      const user = await findTestUser(atrium);
      const { key: apiKey } = await atrium.organization.createKey("Quickstart");
      setKeys((known) => ({ ...known, ...user, apiKey }));
    },
    { invalidates, isForm: true },
  );
  return { keys, fillToken, fillKey };
}

/** A user of the newest room, which is created if there is none. */
async function findTestUser(
  atrium: AtriumServer,
): Promise<Pick<QuickstartKeys, "roomId" | "userId" | "token">> {
  const { rooms } = await atrium.rooms.list({ limit: 1 });
  const roomId = (rooms[0] ?? (await atrium.rooms.create({ name: "My first room" }))).id;
  const { id: userId } = await findOrCreateUser(atrium, { roomId, name: "Ada", customId: CUSTOM_ID });
  const { token } = await atrium.users.createToken(roomId, userId, { ttl: TOKEN_SECONDS });
  return { roomId, userId, token };
}
