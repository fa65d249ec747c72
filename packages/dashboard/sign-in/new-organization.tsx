/** The page that creates another organization. */

import type { OwnOrganization } from "@atrium/contract/rest/people.ts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Redirect, useLocation } from "wouter";
import { callDashboard, ME, useMe } from "../data/api.ts";
import { Loading } from "../ui/feedback.tsx";
import { NameField } from "../ui/fields.tsx";
import { Form } from "../ui/form.tsx";
import { SignInLayout } from "./credentials.tsx";

export default function NewOrganization() {
  const { me, isPending } = useMe();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const create = useMutation({
    mutationFn: (name: string) =>
      callDashboard<{ organization: OwnOrganization }>("POST", "organizations", { name }),
    onSuccess: async ({ organization }) => {
      await queries.invalidateQueries({ queryKey: ME });
      go(`/${organization.id}`);
    },
  });
  if (isPending) return <Loading />;
  if (me === null) return <Redirect to="/sign-in?next=/dashboard/new" replace />;
  return (
    <SignInLayout title="New organization">
      <Form
        submitLabel="Create organization"
        action={create}
        toInput={({ name = "" }) => name}
        {...(me.organizations.length > 0 && { onCancel: () => history.back() })}
      >
        <NameField autoComplete="organization" autoFocus hint="It has its own rooms, API keys and members." />
      </Form>
    </SignInLayout>
  );
}
