import { Button, Menu } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import {
  ChevronDown,
  LogOut,
  type LucideIcon,
  Pencil,
  Trash2,
  UserCheck,
  UserX,
} from "lucide-react";
import { Confirm } from "../../components/confirm.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { tellDone, tellFailed } from "../../components/feedback.tsx";
import { FormDialog } from "../../components/form.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { PermittedItem } from "../../components/permitted.tsx";
import { Loaded, Notice } from "../../components/states.tsx";
import { sentence } from "../../components/tag.tsx";
import { Time } from "../../components/time.tsx";
import { nameOfPerson, type Person, useChangePeople, usePerson } from "./api.ts";
import { PersonFields, PersonTags } from "./dashboard-users.tsx";
import { SignInOf } from "./invitation.tsx";
import { PersonPermissions } from "./person-permissions.tsx";

const route = getRouteApi("/company/dashboard-users/$id");

/** One dashboard user: who it is, their permissions, and whether they may sign in. */
export function DashboardUserPage() {
  const { id } = route.useParams();
  return (
    <Loaded from={usePerson(id)} lines={12} page="Dashboard user">
      {({ person }) => <PersonView person={person} />}
    </Loaded>
  );
}

interface PersonProps {
  readonly person: Person;
}

const PersonView = ({ person }: PersonProps) => (
  <Page
    title={nameOfPerson(person)}
    about={
      <>
        <Link to="/company/$section" params={{ section: "dashboard-users" }} className="link">
          Dashboard users
        </Link>
        {` / ${person.user_name} `}
        <PersonTags person={person} />
      </>
    }
    actions={<Actions person={person} />}
  >
    <div className="stack">
      {person.from_scim && (
        <Notice title="An identity provider manages this person">
          It may change back what you change here.
        </Notice>
      )}
      <Card title="Person" flush>
        <Facts
          of={[
            ["Given name", person.given_name],
            ["Family name", person.family_name],
            ["Email address", person.user_name],
            ["Department", sentence(person.department)],
            ["State", person.active ? "Active" : "Deactivated: cannot sign in"],
            ["Last sign-in", <Time key="signed-in" at={person.last_sign_in_at} />],
            ["Created", <Time key="created" at={person.created_at} />],
            ["Changed", <Time key="changed" at={person.updated_at} />],
          ]}
        />
      </Card>
      <SignInOf person={person} />
      <PersonPermissions person={person} />
    </div>
  </Page>
);

const NEEDS = { company: "admin" } as const;

function Actions({ person }: PersonProps) {
  const { open, dialog } = useDialog();
  const { change } = useChangePeople();
  const reactivate = () =>
    void change(person.id, { active: true })
      .then(() => tellDone(`${nameOfPerson(person)} may sign in again.`))
      .catch(tellFailed);
  const items: readonly (readonly [string, LucideIcon, () => void])[] = [
    ["Edit…", Pencil, () => open(<EditPerson person={person} />)],
    person.active
      ? ["Deactivate…", UserX, () => open(<Deactivate person={person} />)]
      : ["Reactivate", UserCheck, reactivate],
    ["Sign out everywhere…", LogOut, () => open(<SignOut person={person} />)],
    ["Remove…", Trash2, () => open(<Remove person={person} />)],
  ];
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={14} />}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {items.map(([label, Icon, run]) => (
            <PermittedItem key={label} needs={NEEDS} leftSection={<Icon size={14} />} onClick={run}>
              {label}
            </PermittedItem>
          ))}
        </Menu.Dropdown>
      </Menu>
      {dialog}
    </>
  );
}

function EditPerson({ person }: PersonProps) {
  const { change } = useChangePeople();
  const { id, given_name, family_name, department } = person;
  return (
    <FormDialog
      title={`Edit ${nameOfPerson(person)}`}
      initial={{ given_name, family_name, department: department as string }}
      save={(values) => change(id, values as Parameters<typeof change>[1])}
    >
      {(form) => <PersonFields form={form} />}
    </FormDialog>
  );
}

function Deactivate({ person }: PersonProps) {
  const { change } = useChangePeople();
  const name = nameOfPerson(person);
  return (
    <Confirm
      title={`Deactivate ${name}`}
      action="Deactivate"
      run={() => change(person.id, { active: false })}
    >
      {name} is signed out in every browser and cannot sign in until you reactivate them.
      Permissions are kept.
    </Confirm>
  );
}

function SignOut({ person }: PersonProps) {
  const { signOut } = useChangePeople();
  const name = nameOfPerson(person);
  return (
    <Confirm
      title={`Sign ${name} out everywhere`}
      action="Sign out"
      run={async () => {
        const count = await signOut(person.id);
        tellDone(count === 1 ? "Ended 1 session." : `Ended ${count} sessions.`);
      }}
    >
      Every session of {name} ends at once. They can sign in again.
    </Confirm>
  );
}

function Remove({ person }: PersonProps) {
  const { remove, refresh } = useChangePeople();
  const navigate = useNavigate();
  const name = nameOfPerson(person);
  return (
    <Confirm
      title={`Remove ${name}`}
      action="Remove"
      typed={person.user_name}
      run={async () => {
        await remove(person.id);
        tellDone(`Removed ${name}.`);
        await navigate({ to: "/company/$section", params: { section: "dashboard-users" } });
        await refresh();
      }}
    >
      {name} is signed out in every browser and loses all permissions.
      {person.from_scim && " The identity provider may create them again."}
    </Confirm>
  );
}
