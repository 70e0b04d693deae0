```nit
>>> data = load(path='a.csv')
    $n = await count(rows=data, width=007)
show(text="one"
  "two")
mail(to=user.email, cost="$total")
```
