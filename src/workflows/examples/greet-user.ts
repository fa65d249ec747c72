/** On `user.created`: leaves a welcome in the room that names whom the new user will meet there. */
import type { Workflow } from "atrium/workflow";

const greetUser: Workflow<"user.created"> = async ({ user }, { room, files }) => {
  const online = (await room.getUsers()).filter(({ status }) => status === "online");
  const company =
    online.length === 0 ? "You are the first." : `Here now: ${online.map(({ name }) => name).join(", ")}.`;
  const { url } = await files.put(`welcome-${user.id}.txt`, `Welcome, ${user.name}! ${company}\n`);
  return { greeted: user.name, welcome: url };
};

export default greetUser;
