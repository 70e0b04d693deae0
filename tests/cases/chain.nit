# What models write: a chain of calls, with data flowing through variables.
$page = fetch(url="https://a.example/?q=1#top", headers={"Accept": "text/html", retries: 3})
$summary = summarize(text=$page.body[:5000], style="short")
publish(title=f"About {$page.title!s:>20}", body=$summary)
$summary
