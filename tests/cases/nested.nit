publish(text=summarize(content=$page), tags=[tag($page.title), "x"])
$first = search(q="x", limit=10)[0].url
f(a=$x.y, b=g(c=$z.w, d=h()), e=f"{$x.z}!", k=i($x))
[$a[0], {k: m()}, $b.c]
$rows[pick($n)].name
