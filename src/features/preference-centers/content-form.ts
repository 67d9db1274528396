import Type, { type Static } from "typebox";
import { ClosedObject, named } from "../../core/base/values/schemas.ts";
import { type CenterOptions, DEFAULT_OPTIONS, STATES } from "./center.ts";
import { localeTag } from "./locales.ts";

/* The members of a center, the same in the API and in a manifest. */

/** Publicly known; the two spellings of the list as well. */
const LinkTag = ClosedObject({
  rel: Type.Enum(["icon", "shortcut icon", "apple-touch-icon", "mask-icon"], {
    description: "The purpose of the icon.",
  }),
  href: Type.String({ minLength: 1, maxLength: 2_048, description: "The address of the icon." }),
  type: Type.Optional(
    Type.Enum(
      ["image/png", "image/svg", "image/gif", "image/x-icon", "image/svg+xml", "mask-icon"],
      { description: "The icon's media type." },
    ),
  ),
  sizes: Type.Optional(Type.String({ maxLength: 255, description: "Such as 32x32." })),
  color: Type.Optional(Type.String({ maxLength: 255, description: "The color of a mask icon." })),
});

const LinkTags = Type.Optional(
  Type.Array(LinkTag, { maxItems: 20, description: "The icons of the pages." }),
);

/** spec: Preference center. Not the tag: the value of its `content`. */
const ViewportContent = Type.Refine(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: "Viewport of the pages: only the content value of the viewport meta tag.",
  }),
  (text) => !/[<>"]/.test(text),
  () => "must be only the content value of the meta tag, without the tag",
);

export const Options = ClosedObject(
  {
    "meta-viewport-content": Type.Optional(ViewportContent),
    "links-tags": LinkTags,
    "link-tags": LinkTags,
  },
  { description: "Elements for the head of the pages." },
);

/** As they are read. */
export const ShownOptions = Type.Object({ "meta-viewport-content": Type.String() });

export const State = Type.Enum([...STATES], {
  description: "Whether the page is served: a draft is not.",
});

export const Title = Type.String({ maxLength: 255, description: "The title of the pages." });

export const Translations = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
  description: "Texts by language (es, es-MX) and by the id of their translation tag.",
});

/** The options of a center, with defaults for those that a request omits. */
export function optionsOf(options: Static<typeof Options>): CenterOptions {
  const { "links-tags": links, "link-tags": linksToo, ...rest } = options;
  const all = links ?? linksToo;
  return { ...DEFAULT_OPTIONS, ...rest, ...(all && { "links-tags": all }) };
}

/** A tag in its canonical spelling; other text stays unchanged and is refused later. */
export const localeOf = (text: string): string => localeTag(text) ?? text;

/** Texts under their languages in canonical spelling. Two spellings of one stay unchanged, and are refused later. */
export function translationsOf<Value>(
  translations: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const spellings = new Map<string, number>();
  for (const locale of Object.keys(translations)) {
    const tag = localeOf(locale);
    spellings.set(tag, (spellings.get(tag) ?? 0) + 1);
  }
  // Makes `__proto__` a key like any other, so that it is refused.
  return Object.fromEntries(
    Object.entries(translations).map(([locale, texts]) => {
      const tag = localeOf(locale);
      return [spellings.get(tag) === 1 ? tag : locale, texts];
    }),
  );
}

/** An accepted part of a page that has no effect. */
const CenterWarning = named("CenterWarning", {
  code: Type.Literal("NO_EFFECT"),
  message: Type.String(),
  field: Type.String(),
  line: Type.Integer({ minimum: 1, description: "The line." }),
});

export type CenterWarning = Static<typeof CenterWarning>;

/** In a response. */
export const Warnings = Type.Optional(
  Type.Array(CenterWarning, { description: "Parts of the pages that have no effect." }),
);
