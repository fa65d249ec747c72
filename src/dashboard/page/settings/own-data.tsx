/** What the service keeps of the signed-in person: its export, and the deletion of their account. */
import type { PersonExport } from "../../../features/privacy/schema.ts";
import { callDashboard } from "../data/api.ts";
import { useAction } from "../data/use-action.ts";
import { Button } from "../ui/button.tsx";
import { saveFile } from "../ui/copy.tsx";
import { TextField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";

export const OwnData = () => (
  <>
    <Export />
    <Deletion />
  </>
);

/** All pages, as one JSON text. */
async function exportMe(): Promise<string> {
  const records: unknown[] = [];
  let after: string | null = null;
  do {
    const page: PersonExport = await callDashboard<PersonExport>("POST", "me/export", { after });
    records.push(...page.records);
    after = page.cursor;
  } while (after !== null);
  return JSON.stringify(records, null, 2);
}

function Export() {
  const act = useAction(async () => saveFile("my-data.json", "application/json", await exportMe()));
  return (
    <section aria-labelledby="own-data">
      <h2 id="own-data">Your data</h2>
      <p className="soft">
        Your profile, when you signed in, your memberships and invitations, which mails you were sent lately,
        and what you changed in your organizations, as JSON.
      </p>
      <div>
        <Button isBusy={act.isPending} onClick={() => act.mutate()}>
          Export
        </Button>
      </div>
    </section>
  );
}

function Deletion() {
  const act = useAction((password: string) => callDashboard("POST", "me/delete", { password }), {
    isForm: true,
  });
  return (
    <section aria-labelledby="own-deletion">
      <h2 id="own-deletion">Delete your account</h2>
      <p className="soft">
        Ends your memberships, your open invitations and all your sessions. This cannot be undone. An
        organization that only you own needs another owner first, or is deleted first. Your name stays in the
        audit logs of your organizations for as long as these are kept.
      </p>
      <Form
        submitLabel="Delete account"
        isDanger
        error={act.error}
        isBusy={act.isPending}
        onSubmit={({ password = "" }) =>
          act.mutate(password, { onSuccess: () => location.assign("/dashboard/sign-in") })
        }
      >
        <TextField
          label="Your password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
      </Form>
    </section>
  );
}
