/** On `session.closed`: leaves a file in the room that says who took part, and what its store "tasks" holds by then. */
import type { Workflow } from "atrium/workflow";

interface Task {
  readonly title: string;
  readonly done: boolean;
}

const summarizeSession: Workflow<"session.closed"> = async ({ timestamp, room, users }, { store, files }) => {
  const tasks = Object.values(await store.getAll("tasks")) as Task[];
  const summary = [
    `# ${room.name}, ${timestamp.slice(0, 10)}`,
    "",
    `With ${users.map(({ name }) => name).join(", ")}.`,
    "",
    ...tasks.map(({ title, done }) => `- [${done ? "x" : " "}] ${title}`),
  ];
  const { url } = await files.put("summary.md", `${summary.join("\n")}\n`, "text/markdown");
  console.log(`${tasks.filter(({ done }) => !done).length} of ${tasks.length} tasks are left`);
  return { summary: url };
};

export default summarizeSession;
