import { Modal, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { Search, UserRound, UserSearch } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from "react";
import { messageOf } from "../../api/api-error.ts";
import { fullNameOf, nameOf } from "../../api/name-of.ts";
import { useSession } from "../../api/session.ts";
import { type FoundUser, useFirstUsers } from "../../api/users.ts";
import { useReturnFocus } from "../../components/return-focus.ts";
import { entryTo, isSeen } from "../navigation.ts";
import { matching, type Place, placesOf } from "./places.ts";

interface QuickSearchProps {
  /** The present workspace, whose users are searched. */
  readonly workspace: string | undefined;
  close(): void;
}

/** How long typing rests before users are searched. */
const REST_MS = 150;

/**
 * Finds a page, a workspace or a user by name, with only the keyboard. Pages come first: they are
 * there at once, so that users who are found later do not move the entry that a person is about to
 * choose.
 */
export function QuickSearch({ workspace, close }: QuickSearchProps) {
  useReturnFocus();
  const session = useSession();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const query = text.trim();
  const all = useMemo(() => placesOf(session, workspace), [session, workspace]);
  const users = useUsers(workspace, query);
  const places = [...matching(all, query), ...users.places];
  const open = ({ link }: Place) => {
    close();
    void navigate(link as NavigateOptions);
  };
  const status = users.status ?? (places.length === 0 ? `Nothing matches “${query}”` : undefined);
  return (
    // Locking the scroll and the theme's defaults: see theme.ts.
    <Modal.Root opened onClose={close} size="36rem" yOffset="10dvh" radius="lg" lockScroll={false}>
      <Modal.Overlay />
      <Modal.Content aria-label="Quick search">
        <div className="quick-search">
          <Choices text={text} change={setText} places={places} open={open} />
          <output className="quick-search-foot" aria-live="polite">
            {status ?? `${places.length} ${places.length === 1 ? "result" : "results"}`}
          </output>
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}

/** The users with matching identifiers, for people who may see users. */
function useUsers(
  workspace: string | undefined,
  query: string,
): { readonly places: readonly Place[]; readonly status?: string | undefined } {
  const session = useSession();
  const [rested] = useDebouncedValue(query, REST_MS);
  const entry = entryTo("/w/$workspace/users");
  const maySearch =
    workspace !== undefined && entry !== undefined && isSeen(entry, session, workspace);
  const isWanted = maySearch && query !== "";
  const found = useFirstUsers(workspace ?? "", rested, isWanted && rested !== "");
  if (!isWanted) return { places: [] };
  // Users whom the previous query found stay only if this one finds them too: Enter opens the typed
  // text.
  const isOfQuery = !found.isPlaceholderData && rested === query;
  const users = (found.data?.users ?? []).filter((user) => isOfQuery || isFoundBy(user, query));
  const places = [
    ...users.map((user) => ({
      label: nameOf(user),
      about: aboutOf(user),
      icon: UserRound,
      link: { to: "/w/$workspace/users/$id", params: { workspace, id: user.platform_id } },
    })),
    {
      label: `Search users for “${query}”`,
      icon: UserSearch,
      link: { to: "/w/$workspace/users", params: { workspace }, search: { query } },
    },
  ];
  const failure: unknown = found.error;
  if (failure) return { places, status: messageOf(failure) };
  return { places, ...((found.isFetching || rested !== query) && { status: "Searching users…" }) };
}

const isFoundBy = ({ matched }: FoundUser, query: string): boolean =>
  matched.value.toLowerCase().startsWith(query.toLowerCase()) ||
  // A phone number is found however it is written.
  (matched.identifier === "phone" && /^[+\d\s().-]+$/.test(query));

/** The name, and the matching identifier, if the label shows neither. */
const aboutOf = (user: FoundUser): string =>
  [...new Set([fullNameOf(user), user.matched.value])]
    .filter((each) => each && each !== nameOf(user))
    .join(" · ");

interface ChoicesProps {
  readonly text: string;
  readonly places: readonly Place[];
  change(text: string): void;
  open(place: Place): void;
}

/** A field with a list of matches: the focus stays in the field, and arrows choose. */
function Choices({ text, places, change, open }: ChoicesProps) {
  const list = useId();
  const [chosen, setChosen] = useState(0);
  const active = Math.min(chosen, places.length - 1);
  const idOf = (index: number) => `${list}-${index}`;
  useEffect(() => {
    document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [list, active]);
  const onKeyDown = (event: KeyboardEvent) => {
    const place = places[active];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.nativeEvent.isComposing || !place) return;
    if (step) setChosen((active + step + places.length) % places.length);
    else if (event.key === "Enter") open(place);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        role="combobox"
        aria-label="Go to a page, a workspace or a user"
        aria-autocomplete="list"
        aria-expanded={places.length > 0}
        aria-controls={list}
        aria-activedescendant={active < 0 ? undefined : idOf(active)}
        placeholder="Page, workspace, name of a user, email …"
        variant="unstyled"
        size="md"
        leftSection={<Search size={16} />}
        maxLength={1_000}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        data-autofocus
        value={text}
        onChange={(event) => {
          setChosen(0);
          change(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={list} aria-label="Results" className="quick-search-list">
        {places.map((place, index) => (
          <Choice
            key={`${place.about} ${place.label}`}
            place={place}
            id={idOf(index)}
            isActive={index === active}
            choose={() => setChosen(index)}
            open={() => open(place)}
          />
        ))}
      </div>
    </>
  );
}

interface ChoiceProps {
  readonly place: Place;
  readonly id: string;
  readonly isActive: boolean;
  choose(): void;
  open(): void;
}

const Choice = ({ place, id, isActive, choose, open }: ChoiceProps) => (
  // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the focus stays in the field
  <div
    id={id}
    role="option"
    aria-selected={isActive}
    className="quick-search-place"
    onMouseMove={choose}
    onMouseDown={(event) => event.preventDefault()}
    onClick={open}
  >
    <place.icon size={16} aria-hidden />
    <bdi className="one-line">{place.label}</bdi>
    {place.about && <bdi className="one-line dim">{place.about}</bdi>}
  </div>
);
