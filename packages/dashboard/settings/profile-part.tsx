/** The person's name, mails, the export of their data, and the deletion of their account. */
import type { PersonExport } from "@atrium/contract/rest/privacy.ts";
import { callDashboard, ME } from "../data/api.ts";
import { useAction, useApiQuery, useCurrent, useIsOwner } from "../data/organization.tsx";
import { CodeField, CurrentPasswordField } from "../sign-in/credentials.tsx";
import { saveFile } from "../ui/button.tsx";
import { ActionButton, ConfirmAction } from "../ui/dialog.tsx";
import { ErrorMessage } from "../ui/feedback.tsx";
import { NameField, SelectField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { Section } from "../ui/page.tsx";
import { useCredentials } from "./provider-section.tsx";
import { useSecondFactor } from "./second-factor.tsx";

export const ProfilePart = () => (
  <>
    <Name />
    <Notices />
    <Export />
    <Deletion />
  </>
);

function Name() {
  const { person } = useCurrent().me;
  const rename = useAction((_, name: string) => callDashboard("PATCH", "me", { name }), {
    toast: "Name changed",
    undo: () => callDashboard("PATCH", "me", { name: person.name }),
    refreshes: [ME],
  });
  return (
    <Section id="name" title="Profile" about={person.email}>
      <Form key={person.name} submitLabel="Save" action={rename} toInput={({ name = "" }) => name}>
        <NameField autoComplete="name" defaultValue={person.name} />
      </Form>
    </Section>
  );
}

interface NoticeSettings {
  readonly wanted: boolean;
  readonly by_mail: boolean;
}

/** Whether an owner receives mails about webhooks and workflows; nothing where the service sends none. */
function Notices() {
  const { organization } = useCurrent();
  const isOwner = useIsOwner();
  const path = `organizations/${organization.id}/notices`;
  const { data, error, refetch } = useApiQuery(
    ["notices"],
    () => callDashboard<NoticeSettings>("GET", path),
    { enabled: isOwner },
  );
  const change = useAction((_, wanted: boolean) => callDashboard<NoticeSettings>("PATCH", path, { wanted }), {
    toast: ({ wanted }) => (wanted ? "You receive mails" : "You receive no mails"),
    undo: (_, __, wanted) => callDashboard("PATCH", path, { wanted: !wanted }),
    refreshes: [["notices"]],
    notifiesErrors: true,
  });
  if (error) return <ErrorMessage error={error} onRetry={refetch} />;
  if (data?.by_mail !== true) return null;
  return (
    <Section id="notices" title="Mails">
      <div className="form">
        <SelectField
          label="Webhooks and workflows"
          value={data.wanted ? "on" : "off"}
          disabled={change.isPending}
          onChange={(event) => change.mutate(event.currentTarget.value === "on")}
          hint={`To you, as an owner of ${organization.name}: a webhook has a high backlog, or the service has disabled a webhook or workflow.`}
          options={[
            ["on", "Send me mails"],
            ["off", "Send me none"],
          ]}
        />
      </div>
    </Section>
  );
}

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

const Export = () => (
  <Section
    id="own-data"
    title="Your data"
    about="Your profile, your passkeys without their keys, since when you have a second factor, when you signed in and by which browsers, your memberships and invitations, which mails you were sent lately, and what you changed in your organizations, as JSON."
  >
    <div>
      <ActionButton
        label="Export"
        variant="plain"
        act={async () => saveFile("my-data.json", "application/json", await exportMe())}
        options={{ toast: "Data exported" }}
      />
    </div>
  </Section>
);

function Deletion() {
  const { person } = useCurrent().me;
  const { data } = useCredentials();
  const hasFactor = useSecondFactor().data?.second_factor != null;
  const remove = useAction(
    (_, input: { readonly password: string | undefined; readonly code: string | undefined }) =>
      callDashboard("POST", "me/delete", input),
    { onDone: () => location.assign("/dashboard/sign-in") },
  );
  return (
    <Section
      id="own-deletion"
      title="Delete your account"
      about="Ends your memberships, your open invitations and all your sessions. This cannot be undone. An organization that only you own needs another owner first, or is deleted first. Your name stays in the audit logs of your organizations for as long as these are kept."
    >
      {data?.password === false && !hasFactor ? (
        <div>
          <ConfirmAction
            label="Delete account"
            variant="danger"
            title="Delete your account?"
            confirmLabel="Delete account"
            typed={person.email}
            act={() => callDashboard("POST", "me/delete", {})}
            options={{ onDone: () => location.assign("/dashboard/sign-in") }}
          >
            <p>This cannot be undone. It needs a sign-in within the last 10 minutes.</p>
          </ConfirmAction>
        </div>
      ) : (
        <Form
          submitLabel="Delete account"
          isDanger
          action={remove}
          toInput={({ password, code }) => ({ password, code })}
        >
          {data?.password !== false && <CurrentPasswordField label="Your password" />}
          {hasFactor && <CodeField />}
        </Form>
      )}
    </Section>
  );
}
