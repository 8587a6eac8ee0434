label	keyName	keyType	fields	tags	_id
Default	Email	email	First Name,Last Name	VIP	6b013c8b995597e1a4000001
