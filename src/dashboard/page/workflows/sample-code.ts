/** The initial code of a new workflow. */
export const SAMPLE_CODE = `// Runs on each of the selected events.
// The run records what the function returns.
export default async function (event, { store, room, files }) {
  const users = await room.getUsers();
  const online = users.filter((user) => user.status === "online");
  console.log(event.event, "in", event.room.name);
  return { online: online.map((user) => user.name) };
}
`;
