/** On `participant.joined`: notifies another service, such as a chat, whose URL is in the room's store "settings". */
import type { Workflow } from "atrium/workflow";

const notifyService: Workflow<"participant.joined"> = async ({ id, user, room }, { store }) => {
  const url = await store.get("settings", "notify");
  if (typeof url !== "string") return { notified: false };
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": id },
    body: JSON.stringify({ text: `${user.name} has joined ${room.name}` }),
  });
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
  return { notified: true };
};

export default notifyService;
