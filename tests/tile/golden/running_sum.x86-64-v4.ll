; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr ptr, ptr %".1", i64 0
  %".7" = load ptr, ptr %".6"
  %".8" = getelementptr ptr, ptr %".1", i64 1
  %".9" = load ptr, ptr %".8"
  %".10" = getelementptr i8, ptr %".3", i64 0
  %".11" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".12" = shufflevector <4 x float> %".11", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".13" = getelementptr inbounds float, ptr %".10", i64 0
  store <4 x float> %".12", ptr %".13", align 4
  %".15" = sext i32 0 to i64
  %".16" = sext i32 6 to i64
  br label %"loop"
loop:
  %"i" = phi  i64 [%".15", %"start"], [%".45", %"body"]
  %".18" = icmp slt i64 %"i", %".16"
  br i1 %".18", label %"body", label %"done"
body:
  %".20" = trunc i64 %"i" to i32
  %".21" = sext i32 %".20" to i64
  %".22" = mul i64 %".21", 4
  %".23" = sext i32 0 to i64
  %".24" = add i64 %".22", %".23"
  %".25" = getelementptr float, ptr %".7", i64 %".24"
  %".26" = sext i32 %".20" to i64
  %".27" = mul i64 %".26", 4
  %".28" = sext i32 0 to i64
  %".29" = add i64 %".27", %".28"
  %".30" = getelementptr float, ptr %".9", i64 %".29"
  %".31" = getelementptr inbounds float, ptr %".10", i64 0
  %".32" = load <4 x float>, ptr %".31", align 4
  %".33" = getelementptr inbounds float, ptr %".25", i64 0
  %".34" = load <4 x float>, ptr %".33", align 4
  %".35" = fadd <4 x float> %".32", %".34"
  %".36" = getelementptr inbounds float, ptr %".30", i64 0
  store <4 x float> %".35", ptr %".36", align 4
  %".38" = getelementptr inbounds float, ptr %".10", i64 0
  %".39" = load <4 x float>, ptr %".38", align 4
  %".40" = getelementptr inbounds float, ptr %".25", i64 0
  %".41" = load <4 x float>, ptr %".40", align 4
  %".42" = fadd <4 x float> %".39", %".41"
  %".43" = getelementptr inbounds float, ptr %".10", i64 0
  store <4 x float> %".42", ptr %".43", align 4
  %".45" = add i64 %"i", 1
  br label %"loop"
done:
  ret void
}
