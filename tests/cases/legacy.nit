$x = before(1)
[[[NIT_CALL]]]
Files.read
path: [START] notes/a.txt [END]
max-lines ： [START]10[END]
[[[NIT_END]]]
[[[NIT_CALL]]] clock [[[NIT_END]]]
after($x)
