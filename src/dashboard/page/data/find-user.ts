/** A user of a room that the dashboard needs: found by its custom ID, and created once. */
import { AtriumError, type AtriumServer, type UserInput, type UserWithToken } from "atrium/server";

export async function findOrCreateUser(
  atrium: AtriumServer,
  input: UserInput & { readonly customId: string },
): Promise<UserWithToken> {
  try {
    return (await atrium.users.getByCustomId(input.roomId, input.customId)).user;
  } catch (error) {
    if (!(error instanceof AtriumError) || error.code !== "NOT_FOUND") throw error;
    return atrium.users.create(input);
  }
}
