/*
 * The pages of a center without its own pages: every group of the workspace with a switch, and one
 * click for no mail at all. They demonstrate the features of pages, in the languages of
 * default-texts.ts.
 */

const STYLE = `
  :root {
    color-scheme: light dark;
    --ground: #f3f4f8; --card: #ffffff; --ink: #16181d; --quiet: #5c6370; --line: #e4e6ec;
    --accent: #3453d1; --on-accent: #ffffff; --off: #8b93a3; --note: #eef2ff; --well: #14713f;
    font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --ground: #101216; --card: #191c22; --ink: #f1f3f7; --quiet: #a4abb9; --line: #2c313b;
      --accent: #8ea4ff; --on-accent: #10131c; --off: #798294; --note: #20263a; --well: #6cd69d;
    }
  }
  * { box-sizing: border-box; }
  body {
    margin: 0; min-height: 100vh; padding: clamp(0px, 6vw, 72px) clamp(0px, 4vw, 24px);
    background: var(--ground); color: var(--ink); -webkit-text-size-adjust: 100%;
  }
  main {
    max-width: 560px; margin: 0 auto; padding: clamp(28px, 7vw, 48px) clamp(20px, 6vw, 44px);
    background: var(--card); border-radius: 20px;
    box-shadow: 0 1px 2px rgb(16 24 40 / 6%), 0 16px 40px -12px rgb(16 24 40 / 14%);
  }
  h1 { margin: 0; font-size: clamp(1.5rem, 5vw, 1.875rem); line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
  h2 { margin: 28px 0 0; font-size: 1rem; }
  h2 + ul { margin-block-start: 12px; }
  p { margin: 10px 0 0; color: var(--quiet); overflow-wrap: anywhere; }
  strong { color: var(--ink); font-weight: 600; }
  ul { list-style: none; margin: 28px 0 0; padding: 0; border-top: 1px solid var(--line); }
  li { border-bottom: 1px solid var(--line); }
  label, .row {
    display: flex; align-items: center; justify-content: space-between; gap: 20px;
    min-height: 72px; padding: 14px 0;
  }
  label { cursor: pointer; }
  .name { font-weight: 600; overflow-wrap: anywhere; }
  .name small { display: block; font-size: 0.875rem; font-weight: 400; color: var(--quiet); }
  [role="switch"] {
    appearance: none; flex: none; position: relative; width: 52px; height: 32px; margin: 0;
    border: 2px solid var(--off); border-radius: 16px; background: transparent; cursor: pointer;
    transition: background-color 0.15s, border-color 0.15s;
  }
  [role="switch"]::before {
    content: ""; position: absolute; inset-block-start: 5px; inset-inline-start: 5px; width: 18px; height: 18px;
    border-radius: 50%; background: var(--off); transition: transform 0.15s, background-color 0.15s;
  }
  [role="switch"]:checked { background: var(--accent); border-color: var(--accent); }
  [role="switch"]:checked::before { background: var(--on-accent); transform: translateX(20px) scale(1.22); }
  [dir="rtl"] [role="switch"]:checked::before { transform: translateX(-20px) scale(1.22); }
  .brand { margin-block-end: 28px; font-weight: 700; font-size: 1.0625rem; }
  .brand img { display: block; max-inline-size: 200px; max-block-size: 56px; }
  button, .button {
    display: block; width: 100%; min-height: 52px; padding: 12px 24px; border: 0; border-radius: 12px;
    background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600;
    text-align: center; text-decoration: none; cursor: pointer;
  }
  button:hover, .button:hover { filter: brightness(1.08); }
  nav a { padding: 8px 16px; font-size: 1.25rem; color: var(--accent); text-decoration: none; }
  .quiet { background: transparent; color: var(--quiet); font-size: 0.9375rem; font-weight: 500; text-decoration: underline; text-underline-offset: 3px; }
  .quiet:hover { color: var(--ink); }
  form > button { margin-top: 28px; }
  .all > button { margin: 12px 0 -16px; }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
  .note { margin-top: 24px; padding: 18px 20px 20px; border-radius: 14px; background: var(--note); }
  .note p { margin: 0; color: var(--ink); }
  .note button { margin-top: 14px; }
  .state { flex: none; font-size: 0.875rem; font-weight: 600; color: var(--quiet); }
  .on { color: var(--well); }
  .done { display: block; width: 56px; height: 56px; margin-bottom: 20px; color: var(--well); }
  @media (min-width: 480px) { .note button { width: auto; } }
  @media (max-width: 479px) { body { padding: 0; background: var(--card); } main { border-radius: 0; box-shadow: none; } }
  @media (forced-colors: active) { [role="switch"] { appearance: auto; width: 24px; } [role="switch"]::before { content: none; } }
  @media (prefers-reduced-motion: reduce) { * { transition: none !important; } }
`;

const CHANNEL = `{% case group.channel %}{% when "email" %}{% translation email %}Email{% endtranslation %}{% when "sms" %}{% translation sms %}Text message{% endtranslation %}{% else %}WhatsApp{% endcase %}`;

const BRAND_COLORS = `{% if brand.color %}
<style>
  :root { --accent: {{ brand.color }}; --on-accent: {{ brand.on_color }}; }
  @media (prefers-color-scheme: dark) { :root { --accent: {{ brand.color_dark }}; --on-accent: {{ brand.on_color_dark }}; } }
</style>
{% endif %}`;

const BRAND = `{% if brand.logo_url %}
<p class="brand"><img src="{{ brand.logo_url }}" alt="{{ brand.company }}"></p>
{% elsif brand.company %}
<p class="brand">{{ brand.company }}</p>
{% endif %}`;

const page = (body: string): string => `<!doctype html>
<html lang="{{ preference_center_locale }}" dir="{{ preference_center_direction }}">
<head>
<meta name="robots" content="noindex">
<style>${STYLE}</style>
${BRAND_COLORS}
</head>
<body>
<main>
${BRAND}
${body}
</main>
</body>
</html>
`;

export const DEFAULT_PAGE =
  page(`<h1>{% translation heading %}Choose what you hear from us{% endtranslation %}</h1>
{% if \${email_address} %}
<p>{% translation for_whom %}These are the choices for <strong>{{ \${email_address} }}</strong>.{% endtranslation %}</p>
{% endif %}
{% if subscribed_state.\${email_global} == "unsubscribed" and \${email_address} %}
<form class="note" method="post" action="{{ preference_center_submit_url }}">
<p>{% translation no_mail %}You are unsubscribed from all our emails. What you choose below counts once you want them again.{% endtranslation %}</p>
<button name="{% form_field_name :email_global_state %}" value="subscribed">{% translation resubscribe %}Receive emails again{% endtranslation %}</button>
</form>
{% endif %}
<form method="post" action="{{ preference_center_submit_url }}">
{% if group_page.groups.size > 0 %}
<ul>
{% for group in group_page.groups %}
<li><label>
<span class="name">{{ group.name }}<small>{% if group.description %}<bdi>{{ group.description }}</bdi> · {% endif %}${CHANNEL}</small></span>
<input type="checkbox" role="switch" name="{{ group.field_name }}" value="subscribed"{% if group.state == "subscribed" %} checked{% endif %}>
</label></li>
{% endfor %}
</ul>
<button>{% translation save %}Save my choices{% endtranslation %}</button>
{% elsif \${email_address} == nil and \${phone_number} == nil %}
<p>{% translation nothing %}We have no address to send you anything.{% endtranslation %}</p>
{% endif %}
</form>
{% if group_page.count > 1 %}
<nav class="row">
{% if group_page.previous %}<a rel="prev" href="{{ preference_center_submit_url }}?page={{ group_page.previous }}" aria-label="{{ group_page.previous }} / {{ group_page.count }}">←</a>{% else %}<span></span>{% endif %}
<span>{{ group_page.number }} / {{ group_page.count }}</span>
{% if group_page.next %}<a rel="next" href="{{ preference_center_submit_url }}?page={{ group_page.next }}" aria-label="{{ group_page.next }} / {{ group_page.count }}">→</a>{% else %}<span></span>{% endif %}
</nav>
{% endif %}
{% if subscribed_state.\${email_global} != "unsubscribed" and \${email_address} %}
<form class="all" method="post" action="{{ preference_center_submit_url }}">
<button class="quiet" name="{% form_field_name :email_global_state %}" value="unsubscribed">{% translation unsubscribe %}Unsubscribe from all emails{% endtranslation %}</button>
</form>
{% endif %}`);

export const DEFAULT_CONFIRMATION =
  page(`<svg class="done" viewBox="0 0 56 56" fill="none" stroke="currentColor" stroke-width="4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><circle cx="28" cy="28" r="25" opacity="0.25"/><path d="M17 29l8 8 15-17"/></svg>
<h1>{% translation saved %}Your choices are saved{% endtranslation %}</h1>
{% if subscribed_state.\${email_global} == "unsubscribed" and \${email_address} %}
<p>{% translation no_mail_now %}You will get no more emails from us.{% endtranslation %}</p>
{% else %}
<p>{% translation saved_now %}They hold from now on. You can change them at any time.{% endtranslation %}</p>
{% endif %}
{% if changes.size > 0 %}
<h2>{% translation changed %}You changed:{% endtranslation %}</h2>
<ul>
{% for change in changes %}
<li class="row">
<span class="name">{% if change.is_email %}{% translation all_mail %}All emails{% endtranslation %}{% else %}{{ change.name }}{% endif %}</span>
{% if change.after == "unsubscribed" %}
<span class="state">{% translation off %}Not subscribed{% endtranslation %}</span>
{% else %}
<span class="state on">{% translation on %}Subscribed{% endtranslation %}</span>
{% endif %}
</li>
{% endfor %}
</ul>
{% unless has_more_changes %}
<form method="post" action="{{ preference_center_submit_url }}">
{% for change in changes %}
<input type="hidden" name="{{ change.field_name }}" value="{{ change.before }}">
{% endfor %}
<button>{% translation undo %}Undo{% endtranslation %}</button>
</form>
{% endunless %}
{% else %}
<p>{% translation unchanged %}Nothing is different from before.{% endtranslation %}</p>
{% endif %}
<p class="all"><a class="button quiet" href="{{ preference_center_submit_url }}">{% translation back %}Change something{% endtranslation %}</a></p>`);
